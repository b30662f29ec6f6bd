import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf, words, writeTree } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { pushRules } from './lib/pipeline-rules.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Bar, Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { publish, type Svc, startSvc } from './lib/svc.ts'
import { writeSite } from './static.ts'

const FILES = 5000
const FILE_BYTES = 1024
const VARIANTS_MS = 180_000

type Request = { name: string; bar: Bar; connections: number; wire(svc: Svc): string }

const BODY = `name=Ann+Example&email=ann%40example.com&message=${words(960, 1).replaceAll(' ', '+')}`
const ACCOUNT = JSON.stringify({ email: 'bench@example.com', password: 'bench bench bench' })
const FORM_HEAD = ['POST /api/contact HTTP/1.1', 'Content-Type: application/x-www-form-urlencoded']

const REQUESTS: readonly Request[] = [
  {
    name: 'form of 1 KB, with a length',
    bar: { atLeast: 0.85, aim: 1 },
    connections: 64,
    wire: ({ host }) => raw([...FORM_HEAD, `Host: ${host}`, `Content-Length: ${BODY.length}`], BODY),
  },
  {
    name: 'form of 1 KB, chunked',
    bar: { atLeast: 0.7, aim: 0.9 },
    connections: 64,
    wire: ({ host }) =>
      raw(
        [...FORM_HEAD, `Host: ${host}`, 'Transfer-Encoding: chunked'],
        `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
      ),
  },
  {
    name: 'sign-in',
    bar: { atLeast: 0.9, aim: 1 },
    connections: 4,
    wire: () =>
      raw(
        [
          'POST /api/auth/signin HTTP/1.1',
          'Host: localhost',
          'Content-Type: application/json',
          `Content-Length: ${ACCOUNT.length}`,
        ],
        ACCOUNT,
      ),
  },
]

const raw = (head: readonly string[], body: string): string => [...head, '', body].join('\r\n')

/** What is written, by the build that `SVC_BASELINE` names and by this one: 1 is the same, more is cheaper. */
export async function benchWrites(lab: Lab, pace: Pace): Promise<Line[]> {
  const baseline = process.env['SVC_BASELINE']
  if (baseline === undefined) {
    console.warn('writes: SVC_BASELINE names the executable to compare with; skipped')
    return []
  }
  const own = await startSite(lab, pace)
  const other = await startSite(lab, pace, [baseline])
  const lines: Line[] = []
  for (const request of REQUESTS) lines.push(await compare(lab, request, own, other, pace))
  lines.push(await comparePublishes(lab, own, other, pace))
  await own.process.stop()
  await other.process.stop()
  return lines
}

async function startSite(lab: Lab, pace: Pace, command?: readonly string[]): Promise<Svc> {
  const svc = await startSvc(lab, command === undefined ? {} : { command })
  await publish(svc, writeSite(lab), '3717e53717e53717e53717e53717e53717e53717')
  await pushRules(svc, pace.seconds * 1000)
  await untilQuiet(svc.process.pid)
  return svc
}

async function compare(lab: Lab, request: Request, own: Svc, other: Svc, pace: Pace): Promise<Line> {
  const scripts = new Map([own, other].map((svc) => [svc, writeScript(lab, request.wire(svc))]))
  const asked = (svc: Svc) =>
    load({
      ...svc,
      pid: svc.process.pid,
      path: '/',
      seconds: pace.seconds,
      connections: request.connections,
      script: scripts.get(svc) ?? '',
    })
  for (const svc of [own, other]) await asked(svc)
  const results = await interleave([own, other], pace.rounds, asked)
  const [ours, theirs] = [cpu(results.get(own)), cpu(results.get(other))]
  const detail = `${median(theirs).toFixed(1)} us of CPU before, ${median(ours).toFixed(1)} us now`
  return {
    name: request.name,
    measure: 'before/now',
    samples: ratios(theirs, ours),
    bar: request.bar,
    detail,
  }
}

const cpu = (samples: readonly LoadResult[] = []) => samples.map(({ cpuMicros }) => cpuMicros)

/** The request as it is, however it frames its body. */
function writeScript(lab: Lab, wire: string): string {
  const path = join(lab.folder('wrk'), 'raw.lua')
  writeFileSync(path, `function request() return ${luaText(wire)} end\n`)
  return path
}

const luaText = (text: string): string => `"${text.replace(/["\\]/g, '\\$&').replaceAll('\r\n', '\\r\\n')}"`

async function comparePublishes(lab: Lab, own: Svc, other: Svc, pace: Pace): Promise<Line> {
  const { ours, theirs } = await timePublishes(lab, own, other, pace)
  return {
    name: `publish of ${FILES} texts of 1 KB, time`,
    measure: 'before/now',
    samples: ratios(theirs, ours),
    bar: { atLeast: 0.8, aim: 0.97 },
    detail: `${median(theirs).toFixed(0)} ms before, ${median(ours).toFixed(0)} ms now`,
  }
}

/** Small texts and a start page, new in each round, as one archive: the milliseconds until it is answered. */
export async function timePublishes(
  lab: Lab,
  own: Svc,
  other: Svc,
  pace: Pace,
): Promise<{ ours: number[]; theirs: number[] }> {
  let round = 0
  const timed = async (svc: Svc): Promise<number> => {
    const site = lab.folder('texts')
    round += 1
    writeTree(site, FILES, FILE_BYTES, round)
    writeFileSync(join(site, 'index.html'), '<link rel=icon href=icon.svg><h1>Texts</h1>')
    writeFileSync(join(site, 'icon.svg'), `<svg xmlns="http://www.w3.org/2000/svg"/><!-- ${round} -->`)
    await untilQuiet(svc.process.pid, VARIANTS_MS)
    const start = performance.now()
    await publish(svc, site, commitOf(round))
    return performance.now() - start
  }
  const results = await interleave([own, other], pace.rounds, timed)
  const [ours = [], theirs = []] = [results.get(own), results.get(other)]
  return { ours, theirs }
}
