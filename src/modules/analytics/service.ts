import type { Context } from '../../context.ts'
import { type DayKind, startOf } from '../../db/request-log/sums.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { findProjectById, projectOf } from '../projects/service.ts'
import { addUp, countNames, type NameCount } from './add-up.ts'
import { type Asked, BUCKET_MS, endOf, parseQuery } from './asked.ts'
import type { AnalyticsQuery, Overview, ProjectAnalytics, Sums, WorkspaceAnalytics } from './model.ts'

export type { Overview, ProjectAnalytics, WorkspaceAnalytics } from './model.ts'

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
