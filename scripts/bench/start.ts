import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { words } from './lib/content.ts'
import type { Lab, Process } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import { pssMegabytes, untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { freePort, spawnCaddy } from './lib/servers.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { publish, spawnSvc, startSvc } from './lib/svc.ts'

const IDLE_MS = 1000

type Starter = { name: string; host: string; spawn: (port: number) => Process }
type Sample = { ms: number; pss: number }

/** From `exec` to the first page, and memory a second after it, with one published site: svc against Caddy. */
export async function benchStart(lab: Lab, pace: Pace): Promise<Line[]> {
  const site = lab.folder('site')
  writeFileSync(join(site, 'index.html'), words(1024, 1))
  const svc = await startSvc(lab)
  await publish(svc, site, '57a7157a7157a7157a7157a7157a7157a7157a71')
  await untilQuiet(svc.process.pid)
  await svc.process.stop()
  const own = { name: 'svc', host: svc.host, spawn: (port: number) => spawnSvc(lab, svc.dataDir, port) }
  const caddy = {
    name: 'caddy',
    host: 'bench.localhost',
    spawn: (port: number) => spawnCaddy(lab, site, port),
  }
  return compareStarts(own, caddy, pace.rounds * 2)
}

async function compareStarts(own: Starter, rival: Starter, rounds: number): Promise<Line[]> {
  const results = await interleave([own, rival], rounds, startOnce)
  const of = (starter: Starter, key: keyof Sample) =>
    (results.get(starter) ?? []).map((sample) => sample[key])
  const line = (name: string, key: keyof Sample, unit: string, bar: Line['bar'] & object): Line => ({
    name,
    measure: `${own.name}/${rival.name}`,
    samples: ratios(of(own, key), of(rival, key)),
    bar,
    detail: [own, rival].map((each) => `${each.name} ${median(of(each, key)).toFixed(1)} ${unit}`).join(', '),
  })
  return [
    line('start to the first answer', 'ms', 'ms', { atMost: 1.2, aim: 0.5 }),
    line('idle memory (PSS)', 'pss', 'MB', { atMost: 2 }),
  ]
}

async function startOnce(starter: Starter): Promise<Sample> {
  const port = await freePort()
  const start = performance.now()
  const child = starter.spawn(port)
  await firstAnswer(port, starter.host)
  const ms = performance.now() - start
  await Bun.sleep(IDLE_MS)
  const pss = pssMegabytes(child.pid)
  await child.stop()
  return { ms, pss }
}

/** Knocks until a page comes. A refused connection fails at once, so the next try follows at once. */
async function firstAnswer(port: number, host: string): Promise<void> {
  const end = performance.now() + 15_000
  while (performance.now() < end) {
    const head = await knock(port, host)
    if (head === undefined) continue
    if (head.startsWith('HTTP/1.1 200')) return
    throw new Error(`${host} answers ${head.slice(0, head.indexOf('\r\n'))}`)
  }
  throw new Error(`${host} does not answer`)
}

function knock(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`))
    socket.on('error', () => resolve(undefined))
    socket.on('close', () => resolve(undefined))
    socket.on('data', (data: Buffer) => {
      resolve(data.toString('latin1'))
      socket.destroy()
    })
  })
}
