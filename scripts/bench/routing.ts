import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addMembersOnly } from './lib/accounts.ts'
import { comparePublishes } from './lib/compare-publishes.ts'
import { commitOf, words } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { ask, type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Bar, Line } from './lib/report.ts'
import { LAST_LINE, writeFullRouting } from './lib/routing-files.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { publish, type Svc, startSvc } from './lib/svc.ts'

const FILE_BYTES = 1024
const PAGE = '/page.html'

/** A request to one site. */
type Subject = { svc: Svc; host: string; path: string; headers: Record<string, string>; status: number }
type Headers = Record<string, string>
type Pair = { name: string; one: Subject; other: Subject; bar: Bar; measure?: string }

/** Sites with routing files as long as they may be, against the same site without. */
export async function benchRouting(lab: Lab, pace: Pace): Promise<Line[]> {
  const full = await startSite(lab, true)
  const bare = await startSite(lab, false)
  const lines = [...(await compareServing(full, bare, pace)), ...(await compareBefore(lab, bare, pace))]
  for (const svc of [full, bare]) await svc.process.stop()
  const publishes = { name: 'full routing files', bytes: FILE_BYTES, add: writeFullRouting }
  return [...lines, await comparePublishes(lab, pace, publishes)]
}

async function startSite(lab: Lab, hasRouting: boolean, command?: readonly string[]): Promise<Svc> {
  const svc = await startSvc(lab, command === undefined ? {} : { command })
  const site = lab.folder('site')
  writeFileSync(join(site, 'page.html'), words(FILE_BYTES, 1))
  if (hasRouting) writeFullRouting(site)
  await publish(svc, site, commitOf(1))
  await untilQuiet(svc.process.pid)
  return svc
}

async function compareServing(full: Svc, bare: Svc, pace: Pace): Promise<Line[]> {
  const [fullMembers, bareMembers] = [await addMembersOnly(full), await addMembersOnly(bare)]
  const etag = (await ask(bare, PAGE)).headers.get('etag') ?? ''
  const fresh = { 'if-none-match': etag }
  const open = (svc: Svc, headers: Headers = {}, status = 200, path = PAGE): Subject => ({
    svc,
    host: svc.host,
    path,
    headers,
    status,
  })
  const closed = (svc: Svc, { host, cookie }: { host: string; cookie: string }): Subject => ({
    ...open(svc, { cookie }),
    host,
  })
  const pairs: readonly Pair[] = [
    { name: '1 KB, full routing files', one: open(full), other: open(bare), bar: LEAST },
    { name: '304', one: open(full, fresh, 304), other: open(bare, fresh, 304), bar: LEAST_OTHER },
    {
      name: '1 KB, private',
      one: closed(full, fullMembers),
      other: closed(bare, bareMembers),
      bar: LEAST_OTHER,
    },
    {
      name: '301 by the last line',
      one: open(full, {}, 301, LAST_LINE),
      other: open(bare),
      bar: REDIRECT,
      measure: 'file/301',
    },
  ]
  const lines: Line[] = []
  for (const pair of pairs) lines.push(await compare(pair, pace))
  return lines
}

const LEAST: Bar = { atLeast: 0.8, aim: 0.97 }
const LEAST_OTHER: Bar = { atLeast: 0.8, aim: 0.95 }
const REDIRECT: Bar = { atLeast: 0.8, aim: 1 }

async function compareBefore(lab: Lab, bare: Svc, pace: Pace): Promise<Line[]> {
  const baseline = process.env['SVC_BASELINE']
  if (baseline === undefined) {
    console.warn('routing: SVC_BASELINE names the executable to compare with; left out')
    return []
  }
  const before = await startSite(lab, false, [baseline])
  const asked = (svc: Svc): Subject => ({ svc, host: svc.host, path: PAGE, headers: {}, status: 200 })
  const bar = { atLeast: 0.9, aim: 1 }
  const pair = {
    name: '1 KB, no routing files',
    one: asked(bare),
    other: asked(before),
    bar,
    measure: 'before/now',
  }
  const line = await compare(pair, pace)
  await before.process.stop()
  return [line]
}

/** CPU a request of the other over that of the one: 1 is the same, more is cheaper. */
async function compare(pair: Pair, pace: Pace): Promise<Line> {
  const { name, one, other, bar, measure = 'without/with' } = pair
  const asked = ({ svc, host, path, headers }: Subject) =>
    load({ port: svc.port, pid: svc.process.pid, host, path, headers, seconds: pace.seconds })
  for (const subject of [one, other]) {
    const { status } = await ask(
      { port: subject.svc.port, host: subject.host },
      subject.path,
      subject.headers,
    )
    if (status !== subject.status) throw new Error(`${name}: ${subject.path} answers ${status}`)
    await asked(subject)
  }
  const results = await interleave([one, other], pace.rounds, asked)
  const [ours, theirs] = [cpu(results.get(one)), cpu(results.get(other))]
  const detail = `${median(ours).toFixed(1)} us of CPU, against ${median(theirs).toFixed(1)} us`
  return { name, measure, samples: ratios(theirs, ours), bar, detail }
}

const cpu = (samples: readonly LoadResult[] = []) => samples.map(({ cpuMicros }) => cpuMicros)
