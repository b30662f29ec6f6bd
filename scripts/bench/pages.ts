import { call, cookieOf } from './lib/accounts.ts'
import type { Lab } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import { type Crowd, fillUp } from './lib/pages-seed.ts'
import { makeOneOfEach, pagePaths } from './lib/pages-world.ts'
import { threadMicros, untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { median } from './lib/stats.ts'
import { type Svc, startSvc } from './lib/svc.ts'

const FEW: Crowd = { projects: 10, deployments: 10, records: 10 }
const MANY: Crowd = { projects: 1000, deployments: 10_000, records: 100_000 }
/** Requests of a page in a round, and before the first so that nothing is measured cold. */
const REQUESTS = 8
const WARM_UP = 12
/** Of sixty pages some were only unlucky in a few rounds: those that grow most are measured again, as often as this. */
const SUSPECTS = 5
const MORE_ROUNDS = 3

type Installation = { svc: Svc; cookie: string; paths: string[] }
/** The address of the same page in both installations. */
type Pair = { inFew: string; inMany: string }
type Cost = { path: string; pair: Pair; few: number[]; many: number[] }

/** What every page of the admin costs the server: with ten of each thing, and in a crowd. */
export async function benchPages(lab: Lab, pace: Pace): Promise<Line[]> {
  const few = await startInstallation(lab, FEW)
  const many = await startInstallation(lab, MANY)
  const pairs = await pagesOf(few, many)
  const costs: Cost[] = []
  for (const pair of pairs) costs.push({ path: shortened(pair.inFew), pair, few: [], many: [] })
  for (const cost of costs) await compare(few, many, cost, pace.rounds)
  for (const cost of costs.toSorted(byGrowth).slice(0, SUSPECTS))
    await compare(few, many, cost, pace.rounds * MORE_ROUNDS)
  const [sorted = ''] = many.paths.filter((path) => path.includes('sort='))
  const afterWrite = await microsAfterWrite(many, sorted, pace.rounds)
  await few.svc.process.stop()
  await many.svc.process.stop()
  // Which page it is, when a bar is missed.
  if (process.env['BENCH_PAGES'] === 'all')
    for (const cost of costs.toSorted(bySize)) console.log(described(cost))
  return [...judge(costs), afterWrite]
}

/** Pages that are there in both installations, with everything that only the first visits pay for paid. */
async function pagesOf(few: Installation, many: Installation): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (const [place, inFew] of few.paths.entries()) {
    const pair = { inFew, inMany: many.paths[place] ?? inFew }
    if ((await isPage(few, pair.inFew)) && (await isPage(many, pair.inMany))) pairs.push(pair)
  }
  for (const { inFew, inMany } of pairs) {
    await microsOf(few, inFew, WARM_UP)
    await microsOf(many, inMany, WARM_UP)
  }
  return pairs
}

async function startInstallation(lab: Lab, crowd: Crowd): Promise<Installation> {
  const first = await startSvc(lab)
  const { ids, models } = await makeOneOfEach(lab, first)
  await first.process.stop()
  fillUp(first.dataDir, models, crowd)
  const svc = await startSvc(lab, { dataDir: first.dataDir })
  await untilQuiet(svc.process.pid)
  return { svc, cookie: await cookieOf(svc), paths: await pagePaths(ids) }
}

/** What leads elsewhere when signed in, or wants a link, is no page to measure; anything else must be there. */
async function isPage({ svc, cookie }: Installation, path: string): Promise<boolean> {
  const { status, headers } = await open(svc, cookie, path)
  if (status >= 400 && path.includes('/projects/')) throw new Error(`${path} answers ${status}`)
  return status === 200 && headers.get('content-type')?.startsWith('text/html') === true
}

async function compare(few: Installation, many: Installation, cost: Cost, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    cost.few.push(await microsOf(few, cost.pair.inFew, REQUESTS))
    cost.many.push(await microsOf(many, cost.pair.inMany, REQUESTS))
  }
}

const shortened = (path: string): string => path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')

/** What is kept until something is written has to be found again then: what one visit costs, with the write itself. */
async function microsAfterWrite(installation: Installation, path: string, rounds: number): Promise<Line> {
  const samples: number[] = []
  for (let round = 0; round < rounds; round++) {
    const before = threadMicros(installation.svc.process.pid)
    await call(
      installation.svc,
      'POST',
      '/api/groups',
      { name: `Team ${round}` },
      { cookie: installation.cookie },
    )
    await open(installation.svc, installation.cookie, path)
    samples.push((threadMicros(installation.svc.process.pid) - before) / 1000)
  }
  const detail = `${MANY.records} records by a field, for the first who looks after a change`
  return { name: 'records sorted anew', measure: 'ms of CPU', samples, detail }
}

/** CPU of the server for one request of the page. */
async function microsOf({ svc, cookie }: Installation, path: string, requests: number): Promise<number> {
  const before = threadMicros(svc.process.pid)
  for (let request = 0; request < requests; request++) await open(svc, cookie, path)
  return (threadMicros(svc.process.pid) - before) / requests
}

async function open(svc: Svc, cookie: string, path: string): Promise<Response> {
  const answer = await fetch(`${svc.url}${path}`, {
    headers: { cookie, accept: 'text/html', host: `localhost:${svc.port}` },
    redirect: 'manual',
  })
  await answer.arrayBuffer()
  return answer
}

function judge(costs: readonly Cost[]): Line[] {
  const byCost = costs.toSorted(bySize)
  const slowest = byCost[0]
  const worst = costs.toSorted(byGrowth)[0]
  if (slowest === undefined || worst === undefined) throw new Error('no page was measured')
  return [
    {
      name: `${costs.length} pages, the slowest`,
      measure: 'many/few',
      samples: [growth(slowest)],
      bar: { atMost: 3 },
      detail: described(slowest),
    },
    {
      name: 'the one that grows most',
      measure: 'many/few',
      samples: [growth(worst)],
      bar: { atMost: 3 },
      detail: described(worst),
    },
    {
      name: 'the median page',
      measure: 'ms of CPU',
      samples: [median(costs.map(({ many }) => median(many))) / 1000],
      bar: { atMost: 10, aim: 3 },
      detail: `the slowest ${(median(slowest.many) / 1000).toFixed(1)} ms`,
    },
  ]
}

const bySize = (a: Cost, b: Cost) => median(b.many) - median(a.many)
const byGrowth = (a: Cost, b: Cost) => growth(b) - growth(a)
const growth = ({ few, many }: Cost) => median(many) / median(few)
const described = (cost: Cost) =>
  `${cost.path}: ${median(cost.many).toFixed(0)} against ${median(cost.few).toFixed(0)} us, ${growth(cost).toFixed(2)} times`
