import type { PrivateSiteResponse } from '../config/config.ts'
import type { HtmlHandling } from '../domain/html-handling.ts'
import type { TrafficSplit } from '../domain/traffic.ts'
import type { Visibility } from '../domain/visibility.ts'
import type { CdnMarks } from './cdn-mark.ts'
import type { SiteRule } from './site-rules.ts'

/** What a host shows: a project's deployment, through an alias or by its SHA. Valid for one site generation. */
export type Site = {
  kind: 'site'
  /** The site's own host, which for a path form is not the requested one. */
  host: string
  project: { id: string; owner: string; name: string }
  /** `expiresAt`: it is a preview. */
  alias: { id: string; name: string; expiresAt: number | null } | null
  deploymentId: string
  commitSha: string
  /** Of this commit. */
  version: number
  revision: number
  updatedAt: number
  /** The latest time at which the host started to show this, as far as alias moves tell. */
  shownSince: number
  /** `''`, or the folder of the deployment that is served, such as `/dist`. */
  basePath: string
  /** The same for the site's own host: a path form with a SHA serves the whole deployment. */
  hostBasePath: string
  manifestKey: string
  htmlHandling: HtmlHandling | null
  /** Its answers ask search engines not to list them. */
  isNoindex: boolean
  visibility: Visibility
  /** Whether the deployment has routing files that were compiled, in whatever folder. */
  hasRouting: boolean
  /** In the order they are tried, including disabled ones. */
  rules: readonly SiteRule[]
  /** The traffic split of a mapped host; null on the sites of the split. */
  split: SiteSplit | null
  /** Where a mapped host starts within what its alias serves: `''`, or a folder such as `/docs`. */
  pathPrefix: string
  /** Shared caches may store responses: the site is public and the same for everybody. */
  isShared: boolean
  /** Public, without rules or a split: only files can be served. */
  isOpen: boolean
  privateSiteResponse: PrivateSiteResponse | null
  /** How a CDN may keep its answers; null without one. */
  cdn: CdnMarks | null
  /** From then on the host shows something else, or nothing: a preview ends, its own or one of its split. */
  endsAt: number | null
}

/**
 * `unproven`: the ownership of the host is not verified yet. `challenge` is null while several projects claim it, since
 * the response would prove every claim. contract 12.10.
 */
export type Place =
  | Site
  | { kind: 'admin' }
  | { kind: 'redirect'; to: string }
  | { kind: 'unproven'; host: string; challenge: string | null }

/** A split with the sites of its aliases, by lower-case name; deleted aliases have none. */
export type SiteSplit = TrafficSplit & { sites: ReadonlyMap<string, Site> }
