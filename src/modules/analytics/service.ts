import type { Context } from '../../context.ts'
import { type DayKind, startOf } from '../../db/request-log/sums.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { invalidField } from '../../domain/errors.ts'
import { isoTime, parseTime } from '../../domain/iso-time.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { findProjectById, projectOf } from '../projects/service.ts'
import { addUp, countNames, type NameCount } from './add-up.ts'
import type { AnalyticsQuery, Overview, ProjectAnalytics, Sums, WorkspaceAnalytics } from './model.ts'

export type { Overview, ProjectAnalytics, WorkspaceAnalytics } from './model.ts'

const DEFAULT_DAYS = 30
const DEFAULT_NAMES = 20
const MAX_NAMES = 100
/** Shorter spans are shown by the hour unless the query says otherwise. */
const HOURS_UP_TO_MS = 3 * DAY_MS
/** Longer series are shown by the day. */
const MAX_HOURS = 31 * 24
const MAX_DAYS = 400

/**
 * What visitors did on the project's sites. Times are rounded to whole hours or days (UTC), as `interval` says; pages,
 * referrers, statuses and bots always to whole days.
 */
export async function getProjectAnalytics(
  ctx: Context,
  grant: Grant,
  query: AnalyticsQuery,
): Promise<ProjectAnalytics> {
  const asked = parseQuery(ctx, query)
  const projectId = projectOf(ctx, grant).id
  ctx.requestLog.flush()
  const named = namesOf(ctx, asked, projectId)
  const { overview } = await read(ctx, asked, projectId)
  const [pages, referrers, missing] = [await named('page'), await named('referrer'), await named('missing')]
  authorizeAgain(ctx, grant, 'analytics:read', true)
  return {
    ...overview,
    pages: pages.map(({ name, count }) => ({ path: name, views: count })),
    referrers: referrers.map(({ name, count }) => ({ host: name, views: count })),
    missing: missing.map(({ name, count }) => ({ path: name, requests: count })),
  }
}

/** The same for the whole workspace, with the share of each project. */
export async function getWorkspaceAnalytics(
  ctx: Context,
  grant: Grant,
  query: AnalyticsQuery,
): Promise<WorkspaceAnalytics> {
  const asked = parseQuery(ctx, query)
  ctx.requestLog.flush()
  const { overview, projects } = await read(ctx, asked, undefined)
  authorizeAgain(ctx, grant, 'workspace:administer', true)
  return { ...overview, projects: sharesOf(ctx, projects) }
}

/** Most views first. Deleted projects are left out. */
function sharesOf(ctx: Context, projects: ReadonlyMap<string, Sums>): WorkspaceAnalytics['projects'] {
  const shares = [...projects].flatMap(([projectId, sums]) => {
    const project = findProjectById(ctx, projectId)
    if (project === undefined && projectId !== '') return []
    const { id = null, owner = null, name = null } = project ?? {}
    return [{ projectId: id, owner, name, ...sums }]
  })
  return shares.sort((a, b) => b.views - a.views || b.requests - a.requests || byId(a, b))
}

type WithId = { projectId: string | null }
const byId = (a: WithId, b: WithId): number => ((a.projectId ?? '') < (b.projectId ?? '') ? -1 : 1)

type Asked = { from: number; to: number; interval: 'hour' | 'day'; limit: number }

const BUCKET_MS = { hour: HOUR_MS, day: DAY_MS } as const

async function read(
  ctx: Context,
  asked: Asked,
  projectId: string | undefined,
): Promise<{ overview: Overview; projects: ReadonlyMap<string, Sums> }> {
  const { from, to, interval } = asked
  const { totals, series, projects } = await addUp(
    ctx.requestLog.db,
    { projectId, from, to },
    BUCKET_MS[interval],
  )
  const named = namesOf(ctx, asked, projectId)
  const overview = {
    from: isoTime(from),
    to: isoTime(to),
    interval,
    totals,
    series: series.map(({ at, ...sums }) => ({ at: isoTime(at), ...sums })),
    statuses: (await named('status')).map(({ name, count }) => ({ status: Number(name), requests: count })),
    botNames: (await named('bot')).map(({ name, count }) => ({ name, requests: count })),
  }
  return { overview, projects }
}

function namesOf(
  ctx: Context,
  { from, to, limit }: Asked,
  projectId: string | undefined,
): (kind: DayKind) => Promise<NameCount[]> {
  const days = { projectId, from: startOf(from, DAY_MS), to: endOf(to, DAY_MS) }
  return (kind) => countNames(ctx.requestLog.db, days, kind, limit)
}

function parseQuery(ctx: Context, query: AnalyticsQuery): Asked {
  const to = parseTime('to', query.to) ?? ctx.now() + 1
  const from = parseTime('from', query.from) ?? to - DEFAULT_DAYS * DAY_MS
  if (from >= to) throw invalidField('from', 'A time before `to`')
  const interval = parseInterval(query.interval, to - from)
  const bucketMs = BUCKET_MS[interval]
  const max = interval === 'hour' ? MAX_HOURS : MAX_DAYS
  const asked = {
    from: startOf(from, bucketMs),
    to: endOf(to, bucketMs),
    interval,
    limit: limitOf(query.limit),
  }
  if (asked.to - asked.from > (max + 1) * bucketMs)
    throw invalidField('from', `At most ${max} ${interval}s are shown at once`)
  return asked
}

function parseInterval(text: string | undefined, lengthMs: number): 'hour' | 'day' {
  if (text === undefined || text === '') return lengthMs <= HOURS_UP_TO_MS ? 'hour' : 'day'
  if (text === 'hour' || text === 'day') return text
  throw invalidField('interval', 'hour or day')
}

function limitOf(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_NAMES
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_NAMES) return limit
  throw invalidField('limit', `A whole number from 1 to ${MAX_NAMES}`)
}

const endOf = (at: number, ms: number): number => Math.ceil(at / ms) * ms
