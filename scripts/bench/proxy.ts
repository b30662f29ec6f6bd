import { join } from 'node:path'
import { createTestCa } from '../../src/testing/test-ca.ts'
import { type Backends, startBackends } from './lib/backends.ts'
import { words } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { ask, type LoadResult, load } from './lib/load.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Bar, Line } from './lib/report.ts'
import type { Server } from './lib/servers.ts'
import { startCaddyProxy, startNginxProxy } from './lib/servers-proxy.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { addRule, publish, type Svc, startSvc } from './lib/svc.ts'
import type { Pace } from './run.ts'

type Case = { name: string; path: string; bytes: number; connections: number; bar: Bar }

/** Each is served by every proxy in every round, so a round of theirs is long. */
const MOST_ROUNDS = 3
const HANGING = 300

const CASES: readonly Case[] = [
  { name: '1 KB, 64 connections', path: '/api/1k.bin', bytes: 1024, connections: 64, bar: above(0.6, 0.9) },
  { name: '1 KB, 256 connections', path: '/api/1k.bin', bytes: 1024, connections: 256, bar: above(0.7, 1) },
  {
    name: '100 KB, 64 connections',
    path: '/api/100k.bin',
    bytes: 102_400,
    connections: 64,
    bar: above(0.6, 0.9),
  },
]
const LATENCY = { name: '1 KB, 1 connection', path: '/api/1k.bin', bytes: 1024, connections: 1 } as const

/** Forwarding to a TLS backend whose CA is not a public one: svc against nginx's `proxy_pass` (the bars) and Caddy. */
export async function benchProxy(lab: Lab, pace: Pace): Promise<Line[]> {
  const rounds = Math.min(pace.rounds, MOST_ROUNDS)
  const ca = createTestCa()
  const caFile = join(lab.folder('ca'), 'ca.pem')
  await Bun.write(caFile, ca.pem)
  const backends = await startBackends(lab, ca)
  const svc = await startForwarding(lab, backends, caFile)
  const nginx = await startNginxProxy(lab, backends.files, caFile)
  const servers = [svc, nginx, await startCaddyProxy(lab, backends.files, caFile)]
  const lines: Line[] = []
  for (const each of CASES) lines.push(...rateLines(each, await measure(each, servers, { ...pace, rounds })))
  lines.push(...latencyLines(await measure(LATENCY, servers, { ...pace, rounds })))
  lines.push(...(await besideHanging(svc, backends, { ...pace, rounds })))
  for (const server of servers) await server.process.stop()
  await backends.close()
  return lines
}

/** A site with a static file, and rules for both backends. */
async function startForwarding(lab: Lab, backends: Backends, caFile: string): Promise<Svc> {
  const site = lab.folder('site')
  await Bun.write(join(site, '1k.html'), words(1024, 1))
  await Bun.write(join(site, 'index.html'), '<!doctype html><title>Bench</title>')
  const env = { PROXY_ALLOWED_TARGETS: '127.0.0.1', NODE_EXTRA_CA_CERTS: caFile }
  const svc = await startSvc(lab, { env })
  await publish(svc, site, '9a0c59a0c59a0c59a0c59a0c59a0c59a0c59a0c5')
  await addRule(svc, '/api/*', `https://127.0.0.1:${backends.files}`)
  await addRule(svc, '/hang/*', `https://127.0.0.1:${backends.hanging}`)
  await untilQuiet(svc.process.pid)
  return svc
}

async function measure(
  { path, bytes, connections }: Omit<Case, 'bar'>,
  servers: readonly Server[],
  { rounds, seconds }: Pace,
): Promise<Map<Server, LoadResult[]>> {
  const request = (server: Server) => ({ ...server, pid: server.process.pid, path, connections, seconds })
  for (const server of servers) {
    await expectFile(server, path, bytes)
    await load(request(server))
  }
  return interleave(servers, rounds, (server) => load(request(server)))
}

function rateLines({ name, bar }: Case, results: Map<Server, LoadResult[]>): Line[] {
  const shown = (server: Server, samples: readonly LoadResult[]) => {
    const cpu = median(samples.map(({ cpuMicros }) => cpuMicros))
    const p99 = median(samples.map(({ p99Ms }) => p99Ms))
    return `${server.name} ${(median(samples.map(rate)) / 1000).toFixed(1)}k/s ${cpu.toFixed(0)} us p99 ${p99.toFixed(1)} ms`
  }
  return linesOf(name, results, rate, bar, shown)
}

function latencyLines(results: Map<Server, LoadResult[]>): Line[] {
  const p50 = ({ p50Ms }: LoadResult) => p50Ms
  const shown = (server: Server, samples: readonly LoadResult[]) =>
    `${server.name} ${median(samples.map(p50)).toFixed(3)} ms`
  return linesOf(`${LATENCY.name}, p50`, results, p50, { atMost: 1.5, aim: 1.1 }, shown)
}

/** svc against each of the others; only the first of those, nginx, has a bar. */
function linesOf(
  name: string,
  results: Map<Server, LoadResult[]>,
  figure: (sample: LoadResult) => number,
  bar: Bar,
  shown: (server: Server, samples: readonly LoadResult[]) => string,
): Line[] {
  const [own, ...rivals] = [...results]
  if (own === undefined) return []
  const detail = [...results].map(([server, samples]) => shown(server, samples)).join(', ')
  return rivals.map(([rival, samples], place) => ({
    name,
    measure: `${own[0].name}/${rival.name}`,
    samples: ratios(own[1].map(figure), samples.map(figure)),
    ...(place === 0 ? { bar, detail } : {}),
  }))
}

/** What requests that never end at one backend take from another backend and from files: each with them over without. */
async function besideHanging(svc: Svc, backends: Backends, { rounds, seconds }: Pace): Promise<Line[]> {
  const lines: Line[] = []
  for (const [name, path] of [
    ['another backend', '/api/1k.bin'],
    ['files', '/1k.html'],
  ] as const) {
    const request = { ...svc, pid: svc.process.pid, path, seconds }
    const alone: number[] = []
    const beside: number[] = []
    for (let round = 0; round < rounds; round++) {
      alone.push(rate(await load(request)))
      const hanging = await hang(svc, backends)
      beside.push(rate(await load(request)))
      await hanging.end()
    }
    const about = `${HANGING} hanging, ${name}`
    lines.push({
      name: about,
      measure: 'with/without',
      samples: ratios(beside, alone),
      bar: { atLeast: 0.9, aim: 1 },
    })
  }
  return lines
}

/** Opens the requests that never end, and waits until the backend has as many as one backend is given. */
async function hang(svc: Svc, backends: Backends): Promise<{ end(): Promise<void> }> {
  const stop = new AbortController()
  const requests = Array.from({ length: HANGING }, () =>
    fetch(`http://127.0.0.1:${svc.port}/hang/`, {
      headers: { host: svc.host, connection: 'close' },
      signal: stop.signal,
    }).catch(() => undefined),
  )
  await backends.untilHanging(Math.min(HANGING, 256))
  return {
    async end() {
      stop.abort()
      await Promise.all(requests)
      await backends.untilHanging(0)
    },
  }
}

async function expectFile(server: Server, path: string, bytes: number): Promise<void> {
  const answer = await ask(server, path)
  if (answer.status !== 200 || answer.body.length !== bytes)
    throw new Error(`${server.name} answered ${answer.status} with ${answer.body.length} bytes for ${path}`)
}

const rate = ({ requestsPerSecond }: LoadResult) => requestsPerSecond

function above(atLeast: number, aim: number): Bar {
  return { atLeast, aim }
}
