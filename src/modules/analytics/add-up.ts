import type { LogsDb } from '../../db/logs-db.ts'
import type { DayKind } from '../../db/request-log/sums.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import type { Sums } from './model.ts'
import { countNamesOfDay, type Span, sumByProject } from './queries.ts'

/** `series` has one entry per bucket, also those without requests; `projects` is in no order. */
type AddedUp = { totals: Sums; series: (Sums & { at: number })[]; projects: Map<string, Sums> }

const NOTHING: Sums = { views: 0, visitors: 0, requests: 0, bots: 0, bytes: 0, notFound: 0, errors: 0 }

/** Reads one bucket at a time, so that nobody waits, and each row once. The span consists of whole buckets. */
export async function addUp(db: LogsDb, span: Span, bucketMs: number): Promise<AddedUp> {
  const series: AddedUp['series'] = []
  const projects: AddedUp['projects'] = new Map()
  for (let at = span.from; at < span.to; at += bucketMs) {
    const rows = sumByProject(db, { ...span, from: at, to: at + bucketMs })
    series.push({ at, ...rows.reduce(plus, NOTHING) })
    for (const row of rows) projects.set(row.projectId, plus(projects.get(row.projectId) ?? NOTHING, row))
    await nextTurn()
  }
  return { totals: series.reduce(plus, NOTHING), series, projects }
}

const plus = (a: Sums, b: Sums): Sums => ({
  views: a.views + b.views,
  visitors: a.visitors + b.visitors,
  requests: a.requests + b.requests,
  bots: a.bots + b.bots,
  bytes: a.bytes + b.bytes,
  notFound: a.notFound + b.notFound,
  errors: a.errors + b.errors,
})

export type NameCount = { name: string; count: number }

/** The most frequent names, by day for the same reason. `from` and `to` are starts of days. */
export async function countNames(
  db: LogsDb,
  { projectId, from, to }: Span,
  kind: DayKind,
  limit: number,
): Promise<NameCount[]> {
  const counts = new Map<string, number>()
  for (let day = from; day < to; day += DAY_MS) {
    for (const { name, count } of countNamesOfDay(db, projectId, day, kind))
      counts.set(name, (counts.get(name) ?? 0) + count)
    await nextTurn()
  }
  return mostFrequent(counts, limit)
}

/** Does not sort them all: there may be hundreds of thousands. */
function mostFrequent(counts: ReadonlyMap<string, number>, limit: number): NameCount[] {
  const most: NameCount[] = []
  for (const [name, count] of counts) {
    const at = most.findIndex((other) => isBefore({ name, count }, other))
    if (at === -1 && most.length === limit) continue
    most.splice(at === -1 ? most.length : at, 0, { name, count })
    if (most.length > limit) most.pop()
  }
  return most
}

const isBefore = (a: NameCount, b: NameCount): boolean =>
  a.count === b.count ? a.name < b.name : a.count > b.count
