import type { Context } from '../../context.ts'
import { OTHERS } from '../../db/request-log/store.ts'
import { startOf } from '../../db/request-log/sums.ts'
import { cleanAddress } from '../../domain/clean-addresses.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { nearestPage } from '../../domain/nearest-page.ts'
import { asSentPlain } from '../../domain/routing/inserted-values.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { aliasView, findAliasByName } from '../aliases/service.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import type { Explainer } from '../explain/service.ts'
import { projectOf } from '../projects/service.ts'
import { createRule, type RuleRow, type RuleView } from '../proxy-rules/service.ts'
import { countNames } from './add-up.ts'
import { endOf, parseQuery } from './asked.ts'
import type { MissingPage, MissingQuery } from './model.ts'
import { listLinks, listPages } from './queries.ts'

export type { MissingPage } from './model.ts'

/** So many paths are looked at for those that are still missing. */
const MAX_LOOKED_AT = 300
const MAX_PAGES = 20_000
const REFERRERS = 5

/** What people asked for in vain, most requested first, with who links there and the page that is nearest. contract 13 §9. */
export async function getMissing(
  ctx: Context,
  explainer: Explainer,
  grant: Grant,
  { all = 'false', ...query }: MissingQuery,
): Promise<MissingPage[]> {
  const { from, to, limit } = parseQuery(ctx, { ...query, interval: 'day' })
  const projectId = projectOf(ctx, grant).id
  ctx.requestLog.flush()
  const { db } = ctx.requestLog
  const span = { projectId, from: startOf(from, DAY_MS), to: endOf(to, DAY_MS) }
  const counted = await countNames(db, span, 'missing', MAX_LOOKED_AT)
  const production = productionOf(ctx, grant)
  const found: { path: string; requests: number; resolved: boolean; nearest: string | null }[] = []
  for (const { name: path, count: requests } of counted) {
    if (found.length === limit) break
    if (path === OTHERS) continue
    const resolved = production !== null && (await isAnswered(explainer, production.url, path))
    if (resolved && all !== 'true') continue
    found.push({ path, requests, resolved, nearest: nearestPage(path, production?.pages ?? []) })
    await nextTurn()
  }
  const links = Map.groupBy(
    listLinks(
      db,
      span,
      found.map(({ path }) => path),
    ),
    ({ path }) => path,
  )
  authorizeAgain(ctx, grant, 'analytics:read', true)
  return found.map(({ path, requests, resolved, nearest }) => {
    const referrers = (links.get(path) ?? []).slice(0, REFERRERS)
    return {
      path,
      requests,
      referrers: referrers.map(({ from, requests }) => ({ from, requests })),
      nearest,
      resolved,
    }
  })
}

/**
 * Makes a redirect rule of the project for a missing path. The same again makes none; throws 409 if the path is
 * redirected elsewhere already.
 */
export async function redirectMissing(
  ctx: Context,
  grant: Grant,
  { path, target }: { path: string; target: string },
): Promise<RuleView> {
  const { id: projectId } = projectOf(ctx, grant)
  const pathPattern = asSentPlain(path).replaceAll('*', '%2A').replaceAll(':', '%3A')
  const input = { proxyType: 'redirect' as const, pathPattern, targetUrl: target }
  const isIt = (rule: RuleRow): boolean => {
    if (rule.proxyType !== 'redirect' || rule.pathPattern !== pathPattern) return false
    if (rule.targetUrl === target) return true
    throw new AppError(
      'conflict',
      `There is a redirect of ${path} to ${rule.targetUrl} already: change it under Rules`,
    )
  }
  return createRule(ctx, grant, { projectId, aliasId: null }, input, { isIt })
}

type Production = { url: string; pages: string[] }

/** Null if the project has no alias of that name. */
function productionOf(ctx: Context, grant: Grant): Production | null {
  const project = projectOf(ctx, grant)
  const alias = findAliasByName(ctx, project.id, 'production')
  if (alias === undefined) return null
  const handling = alias.htmlHandling ?? project.htmlHandling
  const pages = listPages(ctx.db, alias.deploymentId, alias.basePath, MAX_PAGES)
    .filter((path) => !/\/(?:404|200)\.html$/.test(path))
    .map((path) => cleanAddress(path, handling))
  return { url: aliasView(ctx, alias).url, pages }
}

/** Whether production would answer somebody who may see it; nothing is sent anywhere. */
async function isAnswered(explainer: Explainer, url: string, path: string): Promise<boolean> {
  const { outcome } = await explainer.explain({
    url: new URL(`${url}${asSentPlain(path)}`),
    method: 'GET',
    headers: new Headers({ accept: 'text/html,*/*;q=0.8' }),
    caller: (site) => ({ actor: { kind: 'operator' }, site, refused: null }),
  })
  return outcome.kind !== 'nothing' && outcome.status !== 404
}
