import { join } from 'node:path'
import { createTestCa } from '../../src/testing/test-ca.ts'
import { type Backends, startBackends } from './lib/backends.ts'
import { words } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { ask, type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Bar, Line } from './lib/report.ts'
import type { Server } from './lib/servers.ts'
import { startCaddyProxy, startNginxProxy } from './lib/servers-proxy.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { addRule, publish, type Svc, startSvc } from './lib/svc.ts'
import { besideHanging } from './proxy-hanging.ts'
import { manyBackends } from './proxy-many.ts'

type Figure = 'rate' | 'p50' | 'p99'
type Case = {
  name: string
  path: string
  bytes: number
  connections: number
  /** What svc is compared by, and what that has to reach. The first of a rival carries the figures. */
  compared: readonly { figure: Figure; rival: 'nginx' | 'caddy'; bar?: Bar }[]
}

const KB = { path: '/api/1k.bin', bytes: 1024 } as const

const CASES: readonly Case[] = [
  {
    name: '1 KB, 64 connections',
    ...KB,
    connections: 64,
    compared: [
      { figure: 'rate', rival: 'nginx', bar: { atLeast: 0.6, aim: 0.9 } },
      { figure: 'rate', rival: 'caddy', bar: { atLeast: 2, aim: 4 } },
    ],
  },
  {
    name: '1 KB, 256 connections',
    ...KB,
    connections: 256,
    compared: [
      { figure: 'rate', rival: 'nginx', bar: { atLeast: 0.7, aim: 1 } },
      { figure: 'rate', rival: 'caddy', bar: { atLeast: 2, aim: 4 } },
      { figure: 'p99', rival: 'caddy', bar: { atMost: 1 } },
    ],
  },
  {
    name: '100 KB, 64 connections',
    path: '/api/100k.bin',
    bytes: 102_400,
    connections: 64,
    compared: [
      { figure: 'rate', rival: 'nginx', bar: { atLeast: 0.6, aim: 0.9 } },
      { figure: 'rate', rival: 'caddy' },
    ],
  },
  {
    name: '1 KB, 1 connection',
    ...KB,
    connections: 1,
    compared: [
      { figure: 'p50', rival: 'nginx', bar: { atMost: 1.5, aim: 1.1 } },
      { figure: 'p50', rival: 'caddy' },
    ],
  },
  // What svc remembers of the heads of a backend is of no use here.
  {
    name: '1 KB, 64 connections, each head another',
    path: '/api/varied/1k.bin',
    bytes: 1024,
    connections: 64,
    compared: [{ figure: 'rate', rival: 'nginx' }],
  },
]

const FIGURES: Readonly<Record<Figure, (sample: LoadResult) => number>> = {
  rate: ({ requestsPerSecond }) => requestsPerSecond,
  p50: ({ p50Ms }) => p50Ms,
  p99: ({ p99Ms }) => p99Ms,
}

/** Forwarding to a TLS backend whose CA is not a public one: svc against nginx's `proxy_pass` and Caddy. */
export async function benchProxy(lab: Lab, pace: Pace): Promise<Line[]> {
  const ca = createTestCa()
  const caFile = join(lab.folder('ca'), 'ca.pem')
  await Bun.write(caFile, ca.pem)
  const backends = await startBackends(lab, ca)
  const svc = await startForwarding(lab, backends, caFile)
  const nginx = await startNginxProxy(lab, backends.files, caFile)
  const servers = [svc, nginx, await startCaddyProxy(lab, backends.files, caFile)]
  const lines: Line[] = []
  for (const each of CASES) lines.push(...linesOf(each, await measure(each, servers, pace)))
  lines.push(...(await besideHanging(svc, backends, pace)))
  lines.push(await manyBackends(lab, svc, pace))
  for (const server of servers) await server.process.stop()
  await backends.close()
  return lines
}

/** A site with a static file, and rules for all backends. */
async function startForwarding(lab: Lab, backends: Backends, caFile: string): Promise<Svc> {
  const site = lab.folder('site')
  await Bun.write(join(site, '1k.html'), words(1024, 1))
  await Bun.write(join(site, 'index.html'), '<!doctype html><title>Bench</title>')
  const env = { PROXY_ALLOWED_TARGETS: '127.0.0.1', NODE_EXTRA_CA_CERTS: caFile }
  const svc = await startSvc(lab, { env })
  await publish(svc, site, '9a0c59a0c59a0c59a0c59a0c59a0c59a0c59a0c5')
  await addRule(svc, '/api/*', `https://127.0.0.1:${backends.files}`)
  await addRule(svc, '/hang/*', `https://127.0.0.1:${backends.hanging}`)
  for (const [index, port] of backends.many.entries())
    await addRule(svc, `/many/${index}/*`, `https://127.0.0.1:${port}`)
  await untilQuiet(svc.process.pid)
  return svc
}

async function measure(
  { path, bytes, connections }: Case,
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

function linesOf({ name, compared }: Case, results: Map<Server, LoadResult[]>): Line[] {
  const samplesOf = (name: string) => [...results].find(([server]) => server.name === name)?.[1] ?? []
  const ratio = (of: (sample: LoadResult) => number, rival: string) =>
    ratios(samplesOf('svc').map(of), samplesOf(rival).map(of))
  const detail = [...results].map(([server, samples]) => shown(server, samples)).join(', ')
  const lines = compared.map(({ figure, rival, bar }, place) => ({
    name: figure === 'rate' ? name : `${name}, ${figure}`,
    measure: `svc/${rival}`,
    samples: ratio(FIGURES[figure], rival),
    ...(bar === undefined ? {} : { bar }),
    ...(place === 0 ? { detail } : {}),
  }))
  const cpu = { name: `${name}, CPU a request`, measure: 'svc/nginx' }
  return [...lines, { ...cpu, samples: ratio(({ cpuMicros }) => cpuMicros, 'nginx') }]
}

function shown({ name }: Server, samples: readonly LoadResult[]): string {
  const middle = (of: (sample: LoadResult) => number) => median(samples.map(of))
  const rate = (middle(FIGURES.rate) / 1000).toFixed(1)
  const cpu = middle(({ cpuMicros }) => cpuMicros).toFixed(0)
  return `${name} ${rate}k/s ${cpu} us p50 ${middle(FIGURES.p50).toFixed(2)} p99 ${middle(FIGURES.p99).toFixed(1)} ms`
}

async function expectFile(server: Server, path: string, bytes: number): Promise<void> {
  const answer = await ask(server, path)
  if (answer.status !== 200 || answer.body.length !== bytes)
    throw new Error(`${server.name} answered ${answer.status} with ${answer.body.length} bytes for ${path}`)
}
