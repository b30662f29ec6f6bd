import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { words } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { ask, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { cloneSites, siteHost } from './lib/seed.ts'
import type { Server } from './lib/servers.ts'
import { interleave, ratios } from './lib/stats.ts'
import { publish, type Svc, startSvc } from './lib/svc.ts'

const SITES = 100_000
const FILES_PER_SITE = 10
const HOT_SITES = 1000
const PATH = '/page-3.html'

/** The cost of a request must not grow with what is stored: 100 000 hosts with 1 000 000 files against one. */
export async function benchHosts(lab: Lab, pace: Pace): Promise<Line[]> {
  const dataDir = await publishOneSite(lab)
  const many = await startWithManySites(lab, dataDir)
  const one = await startSvc(lab, { dataDir })
  const same = await compare(lab, { one, many, hosts: [one.host] }, pace)
  const spread = await compare(lab, { one, many, hosts: hotHosts() }, pace)
  await one.process.stop()
  await many.process.stop()
  const name = `${SITES} hosts, ${SITES * FILES_PER_SITE} files`
  return [
    { name: `${name}, asking one`, measure: 'many/one', samples: same, bar: { atLeast: 0.9 } },
    { name: `${name}, asking ${HOT_SITES} in turn`, measure: 'many/one', samples: spread },
  ]
}

/** A data directory with one published site of ten files; nothing runs on it. */
async function publishOneSite(lab: Lab): Promise<string> {
  const site = lab.folder('site')
  for (let file = 1; file < FILES_PER_SITE; file++) {
    writeFileSync(join(site, `page-${file}.html`), words(1024, file))
  }
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>Bench</title>')
  const svc = await startSvc(lab)
  await publish(svc, site, '0fa1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3')
  await untilQuiet(svc.process.pid)
  await svc.process.stop()
  return svc.dataDir
}

/** The same directory with its site repeated. Every hot host is asked once, to see that it is really there. */
async function startWithManySites(lab: Lab, original: string): Promise<Svc> {
  const dataDir = join(lab.folder('many'), 'data')
  cpSync(original, dataDir, { recursive: true })
  cloneSites(dataDir, SITES - 1)
  const many = await startSvc(lab, { dataDir })
  for (const host of [many.host, ...hotHosts()]) {
    const answer = await ask({ port: many.port, host }, PATH)
    if (answer.status !== 200) throw new Error(`${host} answers ${answer.status}`)
  }
  return many
}

type Pair = { one: Svc; many: Svc; hosts: readonly string[] }

/** Both servers by the same wrk script, so that its own cost is the same; the one site is asked by its one host. */
async function compare(lab: Lab, { one, many, hosts }: Pair, pace: Pace): Promise<number[]> {
  const scripts = new Map<Server, string>([
    [
      one,
      writeScript(
        lab,
        hosts.map(() => one.host),
      ),
    ],
    [many, writeScript(lab, hosts)],
  ])
  const measure = (server: Svc) =>
    load({
      ...server,
      pid: server.process.pid,
      path: PATH,
      seconds: pace.seconds,
      script: scripts.get(server) ?? '',
    })
  await measure(one)
  await measure(many)
  const results = await interleave([one, many], pace.rounds, measure)
  const rates = (server: Svc) => (results.get(server) ?? []).map((sample) => sample.requestsPerSecond)
  return ratios(rates(many), rates(one))
}

function writeScript(lab: Lab, hosts: readonly string[]): string {
  const file = join(lab.folder('wrk'), 'hosts.lua')
  const list = hosts.map((host) => `"GET ${PATH} HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n"`).join(',\n')
  const next =
    'local turn = 0\nfunction request()\n  turn = turn % #requests + 1\n  return requests[turn]\nend\n'
  writeFileSync(file, `local requests = {\n${list}\n}\n${next}`)
  return file
}

const hotHosts = () => Array.from({ length: HOT_SITES }, (_, place) => siteHost(1 + place * 97))
