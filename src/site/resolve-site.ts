import type { Context, SitePlace } from '../context.ts'
import { generationCache } from '../db/generation.ts'
import { isIpLiteral, normalizeHost, siteLabelOf } from '../domain/hostname.ts'
import { isNoindex, type SitePlaceKind } from '../domain/indexing.ts'
import { isCommitSha } from '../domain/names.ts'
import type { TrafficRule, TrafficSplit, TrafficWeight } from '../domain/traffic.ts'
import { resolveVisibility } from '../domain/visibility.ts'
import { cdnMarksOf } from './cdn-mark.ts'
import { findMapping, type MappingRow } from './domain-queries.ts'
import { manifestKey } from './manifest.ts'
import {
  findSiteByAlias,
  findSiteByLabel,
  findSiteOfProject,
  findSitesBySha,
  type SiteRow,
} from './queries.ts'
import type { Place, Site, SiteSplit } from './site.ts'
import { rulesOf } from './site-rules.ts'

const ADMIN: Place = { kind: 'admin' }
const byHost = generationCache<Place>('sites', 200_000)
const byPath = generationCache<Site>('sites', 50_000)

/** Returns what the host shows; undefined if nothing. Accepts the raw header. contract §1 Hosts. */
export function resolveHost(ctx: Context, hostHeader: string): Place | undefined {
  const place = byHost.get(ctx.db, hostHeader, () => lookUpHost(ctx, hostHeader))
  return place?.kind === 'site' && hasEnded(ctx, place) ? lookUpHost(ctx, hostHeader) : place
}

/** Asked of each cached site: time passes without a change that the cache would see. Costs a comparison with null. */
export const hasEnded = (ctx: Context, { endsAt }: Site): boolean => endsAt !== null && endsAt <= ctx.now()

function lookUpHost(ctx: Context, hostHeader: string): Place | undefined {
  const host = normalizeHost(hostHeader)
  if (host === null) return undefined
  // Other spellings get the same place as the usual one. A visitor can make up many; the cache has its limit.
  if (host !== hostHeader) return resolveHost(ctx, host)
  if (host === ctx.config.adminHost || host === 'localhost' || isIpLiteral(host)) return ADMIN
  const mapping = findMapping(ctx.db, host)
  if (mapping !== null) return mappedPlace(ctx, mapping)
  const label = siteLabelOf(host, ctx.config.baseDomain)
  const row = label === null ? null : findSiteByLabel(ctx.db, label, ctx.now())
  return row === null ? undefined : toSite(ctx, row, { place: placeOf(row) })
}

/** Only production may be listed by search engines, unless the project says otherwise. */
const placeOf = ({ aliasName }: SiteRow): SitePlaceKind =>
  aliasName?.toLowerCase() === 'production' ? 'own' : 'other'

/** Returns only which project's site the host shows. */
export function siteAt(ctx: Context, host: string): SitePlace {
  const place = resolveHost(ctx, host)
  return place?.kind === 'site' ? { projectId: place.project.id, host } : null
}

/** `/repo/:owner/:repo/alias/:alias`. */
export function resolveAliasPath(ctx: Context, owner: string, repo: string, alias: string): Site | undefined {
  const lookUp = () => {
    const row = findSiteByAlias(ctx.db, { owner, repo, alias }, ctx.now())
    return row === null ? undefined : toSite(ctx, row, { place: 'other' })
  }
  const site = byPath.get(ctx.db, `${owner}/${repo}/@${alias}`.toLowerCase(), lookUp)
  return site !== undefined && hasEnded(ctx, site) ? lookUp() : site
}

/** `/repo/:owner/:repo/:sha`: the full SHA, or at least 7 characters if they are unambiguous. */
export function resolveShaPath(ctx: Context, owner: string, repo: string, sha: string): Site | undefined {
  if (!isCommitSha(sha)) return undefined
  const from = sha.toLowerCase()
  return byPath.get(ctx.db, `${owner}/${repo}/${from}`.toLowerCase(), () => {
    const rows = findSitesBySha(ctx.db, owner, repo, from, `${from}g`)
    const exact = rows.find(({ commitSha }) => commitSha === from)
    const row = exact ?? (rows.length === 1 ? rows[0] : undefined)
    return row === undefined ? undefined : toSite(ctx, row, { place: 'other' })
  })
}

function mappedPlace(ctx: Context, mapping: MappingRow): Place | undefined {
  const { hostname, challenge, claims, verifiedAt, redirectTo, projectId, alias } = mapping
  if (verifiedAt === null)
    return { kind: 'unproven', host: hostname, challenge: claims === 1 ? challenge : null }
  if (redirectTo !== null)
    return { kind: 'redirect', to: redirectTo.includes('://') ? redirectTo : ctx.siteUrl(redirectTo) }
  const split = splitOf(ctx, mapping)
  const row = findSiteOfProject(ctx.db, projectId, alias, ctx.now())
  const site = row === null ? drawnSite(split) : toSite(ctx, row, { place: 'own', mapping })
  if (site === undefined || split === null) return site
  return { ...site, split, isShared: false, isOpen: false, endsAt: firstEnd([site, ...split.sites.values()]) }
}

const firstEnd = (sites: readonly Site[]): number | null =>
  sites.reduce<number | null>(
    (first, { endsAt }) => (endsAt === null || (first !== null && first <= endsAt) ? first : endsAt),
    null,
  )

/** Replaces the domain's own alias if that was deleted: a site that receives visitors by weight. */
const drawnSite = (split: SiteSplit | null): Site | undefined =>
  split?.weights
    .map(({ alias, weight }) => (weight > 0 ? split.sites.get(alias.toLowerCase()) : undefined))
    .find((site) => site !== undefined)

/** A split with the site of each of its aliases on this host. */
function splitOf(ctx: Context, mapping: MappingRow): SiteSplit | null {
  if (mapping.weights === null || mapping.rules === null) return null
  const split: TrafficSplit = {
    weights: JSON.parse(mapping.weights) as TrafficWeight[],
    rules: JSON.parse(mapping.rules) as TrafficRule[],
    sticky: mapping.sticky === 1,
    stickySeconds: mapping.stickySeconds ?? 0,
  }
  const sites = new Map<string, Site>()
  for (const { alias } of [...split.weights, ...split.rules]) {
    const row = findSiteOfProject(ctx.db, mapping.projectId, alias, ctx.now())
    if (row !== null)
      // A visitor may have seen a different variant just now.
      sites.set(alias.toLowerCase(), {
        ...toSite(ctx, row, { place: 'own', mapping }),
        shownSince: Number.POSITIVE_INFINITY,
        isShared: false,
        isOpen: false,
      })
  }
  return { ...split, sites }
}

function toSite(
  ctx: Context,
  row: SiteRow,
  { place, mapping }: { place: SitePlaceKind; mapping?: MappingRow },
): Site {
  const visibility = resolveVisibility({
    domain:
      mapping === undefined
        ? null
        : {
            isPublic: asBoolean(mapping.isPublic),
            requiredRole: mapping.requiredRole,
            isSpa: asBoolean(mapping.isSpa),
          },
    alias:
      row.aliasId === null
        ? null
        : {
            isPublic: asBoolean(row.aliasIsPublic),
            requiredRole: row.aliasRequiredRole,
            isSpa: asBoolean(row.aliasIsSpa),
          },
    project: { isPublic: row.isPublic === 1, requiredRole: row.requiredRole, isSpa: asBoolean(row.isSpa) },
  })
  const rules = rulesOf(ctx, row.projectId, row.aliasId)
  const pathPrefix = mapping?.pathPrefix ?? ''
  const basePath = `${row.basePath}${pathPrefix}`
  const shown = {
    project: { id: row.projectId, owner: row.owner, name: row.name },
    alias:
      row.aliasId === null || row.aliasName === null
        ? null
        : { id: row.aliasId, name: row.aliasName, expiresAt: row.expiresAt },
    deploymentId: row.deploymentId,
  }
  return {
    kind: 'site',
    host: mapping?.hostname ?? `${row.label ?? ''}.${ctx.config.baseDomain}`,
    ...shown,
    cdn: cdnMarksOf(ctx.config, shown),
    commitSha: row.commitSha,
    version: row.version,
    revision: row.revision,
    updatedAt: row.updatedAt,
    shownSince: Math.max(row.aliasUpdatedAt, mapping?.updatedAt ?? 0),
    basePath,
    hostBasePath: `${row.hostBasePath}${pathPrefix}`,
    manifestKey: manifestKey({ ...row, basePath }),
    htmlHandling: row.htmlHandling,
    isNoindex: isNoindex(row.indexing, place),
    visibility,
    hasRouting: row.hasRouting === 1,
    rules,
    split: null,
    pathPrefix,
    isShared: visibility.isPublic,
    isOpen: visibility.isPublic && !rules.some(({ record }) => record.isEnabled),
    privateSiteResponse: row.privateSiteResponse,
    endsAt: row.isLocked === 1 ? null : row.expiresAt,
  }
}

const asBoolean = (value: number | null): boolean | null => (value === null ? null : value === 1)
