import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf, words, writeTree } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { ask } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { threadMicros, untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { api, packed, publishArchive, type Svc, startSvc } from './lib/svc.ts'

const FILES = 5000
const CHANGED = 50
const FILE_BYTES = 1024
/** The most that an answer lists. */
const LIMIT = 100
const REQUESTS = 5
/** The most that is compared line by line. */
const LINES = 20_000
const LINE_BYTES = 51
/** Files whose lines have nothing in common, and whose lines could be any. */
const WORST = { 'none.txt': unlike, 'any.txt': alike } as const
const VARIANTS_MS = 180_000

type Pair = { from: string; to: string }

/** Two deployments against the lists of their files, and what other requests notice of the worst pair of files. */
export async function benchCompare(lab: Lab, pace: Pace): Promise<Line[]> {
  const svc = await startSvc(lab)
  const pair = await publishPair(lab, svc)
  const lines = [...(await compareWithLists(svc, pair, pace)), await besideWorst(svc, pair, pace)]
  await svc.process.stop()
  return lines
}

async function publishPair(lab: Lab, svc: Svc): Promise<Pair> {
  const site = lab.folder('site')
  writeTree(site, FILES, FILE_BYTES, 1)
  writeFileSync(join(site, 'index.html'), words(FILE_BYTES, 2))
  mkdirSync(join(site, 'worst'))
  const release = async (turn: number) => {
    for (let file = 0; turn > 0 && file < CHANGED; file++)
      writeFileSync(join(site, `part-${file}`, `page-${file * 100}.html`), words(FILE_BYTES, 100 + file))
    for (const [name, lineOf] of Object.entries(WORST)) {
      const lines = Array.from({ length: LINES }, (_, at) => lineOf(at, turn))
      writeFileSync(join(site, 'worst', name), `${lines.join('\n')}\n`)
    }
    const { deployment } = await publishArchive(svc, await packed(site), commitOf(turn))
    return deployment.id
  }
  const pair = { from: await release(0), to: await release(1) }
  await untilQuiet(svc.process.pid, VARIANTS_MS)
  return pair
}

function unlike(at: number, turn: number): string {
  return words(LINE_BYTES, 1 + at * 2 + turn)
}

function alike(at: number, turn: number): string {
  const seed = turn === 0 ? (at * 7919) % 97 : (at * 7907) % 89
  return words(LINE_BYTES, seed)
}

async function compareWithLists(svc: Svc, pair: Pair, pace: Pace): Promise<Line[]> {
  const compare = () => api(svc, 'GET', `/api/deployments/${pair.to}/compare?with=${pair.from}`)
  const counts = ((await compare()) as { counts: { changed: number } }).counts
  const expected = CHANGED + Object.keys(WORST).length
  if (counts.changed !== expected) throw new Error(`${counts.changed} files changed`)
  const jobs = {
    compare,
    whole: () => list(svc, pair, Number.POSITIVE_INFINITY),
    first: () => list(svc, pair, 1),
  }
  const names = ['compare', 'whole', 'first'] as const
  for (const name of names) await microsOf(svc, jobs[name])
  const results = await interleave(names, pace.rounds, (name) => microsOf(svc, jobs[name]))
  const ours = results.get('compare') ?? []
  const line = (name: 'whole' | 'first', measure: string): Line => {
    const theirs = results.get(name) ?? []
    return {
      name: `compare of ${FILES} files, ${CHANGED} changed`,
      measure,
      samples: ratios(ours, theirs),
      detail: `${(median(ours) / 1000).toFixed(1)} ms of CPU, against ${(median(theirs) / 1000).toFixed(1)} ms`,
    }
  }
  return [
    { ...line('whole', 'compare/both lists'), bar: { atMost: 3, aim: 1.5 } },
    line('first', 'compare/first pages'),
  ]
}

async function microsOf(svc: Svc, job: () => Promise<unknown>): Promise<number> {
  const before = threadMicros(svc.process.pid)
  for (let request = 0; request < REQUESTS; request++) await job()
  return (threadMicros(svc.process.pid) - before) / REQUESTS
}

async function list(svc: Svc, { from, to }: Pair, pages: number): Promise<void> {
  for (const id of [from, to])
    for (let page = 1; page <= Math.min(pages, Math.ceil(FILES / LIMIT)); page++)
      await api(svc, 'GET', `/api/deployments/${id}/files?limit=${LIMIT}&page=${page}`)
}

/** How late every tenth request is while files are compared without a pause, over a quiet server. */
async function besideWorst(svc: Svc, pair: Pair, pace: Pace): Promise<Line> {
  const [busy, idle]: [number[], number[]] = [[], []]
  await lateMs(svc, pace)
  for (let round = 0; round < pace.rounds; round++) {
    idle.push(await lateMs(svc, pace))
    const comparing = keepComparing(svc, pair)
    busy.push(await lateMs(svc, pace))
    if ((await comparing.stop()) === 0) throw new Error('nothing was compared')
    await untilQuiet(svc.process.pid)
  }
  return {
    name: `p90 while ${LINES} lines are compared`,
    measure: 'comparing/idle',
    samples: ratios(busy, idle),
    bar: { atMost: 10, aim: 1.5 },
    detail: `${median(busy).toFixed(2)} ms, against ${median(idle).toFixed(2)} ms`,
  }
}

/** The p90 of requests for a file, one after the other. */
async function lateMs(svc: Svc, { seconds }: Pace): Promise<number> {
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const start = performance.now()
    await ask(svc, '/')
    times.push(performance.now() - start)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.9)] ?? Number.NaN
}

/** Compares the worst files in turn; `stop` says how many were begun and done. */
function keepComparing(svc: Svc, { from, to }: Pair): { stop(): Promise<number> } {
  let isOver = false
  let done = 0
  const run = async () => {
    const files = Object.keys(WORST)
    for (let turn = 0; !isOver; turn++) {
      const path = `worst/${files[turn % files.length]}`
      await api(svc, 'GET', `/api/deployments/${to}/compare/file?with=${from}&path=${path}`)
      done += 1
    }
  }
  const running = run()
  return {
    async stop() {
      isOver = true
      await running
      return done
    },
  }
}
