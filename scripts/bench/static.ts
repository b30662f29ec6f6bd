import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noise, words } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { type Answer, ask, type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Bar, Line } from './lib/report.ts'
import { type Server, startCaddy, startNginx } from './lib/servers.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { publish, startSvc } from './lib/svc.ts'

/** One kind of request. `prepare` gives the headers for a server, and fails unless it answers as it should. */
type Case = {
  name: string
  path: string
  bar: Bar
  prepare: (server: Server) => Promise<Record<string, string>>
}

const FILES = { '1k.html': 1024, '10k.html': 10_240, '100k.png': 102_400, '1m.png': 1_048_576 } as const
const GZIP = { 'accept-encoding': 'gzip' }

const CASES: readonly Case[] = [
  { name: '1 KB', path: '/1k.html', bar: { atLeast: 1, aim: 1.2 }, prepare: plain(1024) },
  { name: '10 KB', path: '/10k.html', bar: { atLeast: 0.95, aim: 1.1 }, prepare: plain(10_240) },
  { name: '100 KB', path: '/100k.png', bar: { atLeast: 1 }, prepare: plain(102_400) },
  { name: '1 MB', path: '/1m.png', bar: { atLeast: 1 }, prepare: plain(1_048_576) },
  { name: '10 KB, stored gzip', path: '/10k.html', bar: { atLeast: 1 }, prepare: gzipped },
  { name: '304', path: '/10k.html', bar: { atLeast: 0.9, aim: 1 }, prepare: unchanged },
]

/** Files by alias host over kept connections: svc against nginx (the bars) and Caddy. */
export async function benchStatic(lab: Lab, pace: Pace): Promise<Line[]> {
  const site = writeSite(lab)
  const svc = await startSvc(lab)
  await publish(svc, site, '5a7ec5a7ec5a7ec5a7ec5a7ec5a7ec5a7ec5a7ec')
  await untilQuiet(svc.process.pid)
  const servers = [svc, await startNginx(lab, site), await startCaddy(lab, site)]
  const lines: Line[] = []
  for (const each of CASES) lines.push(...(await compare(each, servers, pace)))
  for (const server of servers) await server.process.stop()
  return lines
}

/** The first server against each of the others; only the first of those, nginx, has a bar. */
async function compare(each: Case, servers: readonly Server[], pace: Pace): Promise<Line[]> {
  const headers = new Map<Server, Record<string, string>>()
  for (const server of servers) headers.set(server, await each.prepare(server))
  const request = (server: Server) => ({
    ...server,
    pid: server.process.pid,
    path: each.path,
    headers: headers.get(server) ?? {},
    seconds: pace.seconds,
  })
  for (const server of servers) await load(request(server))
  const results = await interleave(servers, pace.rounds, (server) => load(request(server)))
  const [own, ...rivals] = servers
  return rivals.map((rival, place) => ({
    name: each.name,
    measure: `${own?.name}/${rival.name}`,
    samples: ratios(rates(own && results.get(own)), rates(results.get(rival))),
    ...(place === 0 ? { bar: each.bar, detail: figures(results) } : {}),
  }))
}

function figures(results: Map<Server, LoadResult[]>): string {
  return [...results]
    .map(([server, samples]) => {
      const rate = median(rates(samples)) / 1000
      const cpu = median(samples.map((sample) => sample.cpuMicros))
      return `${server.name} ${rate.toFixed(1)}k/s ${cpu.toFixed(1)} us`
    })
    .join(', ')
}

const rates = (samples: readonly LoadResult[] = []) => samples.map((sample) => sample.requestsPerSecond)

function plain(bytes: number): Case['prepare'] {
  const check = async (server: Server, path: string) =>
    expectAnswer(server, await ask(server, path), 200, bytes)
  const path = Object.entries(FILES).find(([, size]) => size === bytes)?.[0] ?? ''
  return async (server) => {
    await check(server, `/${path}`)
    return {}
  }
}

async function gzipped(server: Server): Promise<Record<string, string>> {
  const answer = await ask(server, '/10k.html', GZIP)
  expectAnswer(server, answer, 200)
  const encoding = answer.headers.get('content-encoding')
  if (encoding !== 'gzip') throw new Error(`${server.name} sends ${encoding} where gzip was asked for`)
  if (Bun.gunzipSync(Uint8Array.from(answer.body)).length !== 10_240)
    throw new Error(`${server.name}: bad gzip`)
  return GZIP
}

async function unchanged(server: Server): Promise<Record<string, string>> {
  const etag = (await ask(server, '/10k.html')).headers.get('etag') ?? ''
  const headers = { 'if-none-match': etag }
  expectAnswer(server, await ask(server, '/10k.html', headers), 304, 0)
  return headers
}

function expectAnswer(server: Server, answer: Answer, status: number, bytes = answer.body.length): void {
  if (answer.status === status && answer.body.length === bytes) return
  throw new Error(
    `${server.name} answered ${answer.status} with ${answer.body.length} bytes, not ${status} with ${bytes}`,
  )
}

export function writeSite(lab: Lab): string {
  const folder = lab.folder('site')
  mkdirSync(folder, { recursive: true })
  for (const [name, bytes] of Object.entries(FILES)) {
    const content = name.endsWith('.html') ? words(bytes, bytes) : noise(bytes)
    writeFileSync(join(folder, name), content)
  }
  writeFileSync(join(folder, '10k.html.gz'), Bun.gzipSync(words(10_240, 10_240), { level: 9 }))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Bench</title>')
  return folder
}
