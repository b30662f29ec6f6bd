import type { Context, RequestFacts } from '../context.ts'
import { cookieValues, setCookie } from '../domain/cookies.ts'
import {
  chooseAlias,
  headersThatDecide,
  isRemembered,
  type TrafficFacts,
  type TrafficSplit,
  VARIANT_COOKIE,
} from '../domain/traffic.ts'
import { fractionOf } from '../platform/random.ts'
import type { Site } from './resolve-site.ts'
import type { Trace } from './trace.ts'

/** A split with the sites of its aliases, by lower-case name; deleted aliases have none. */
export type SiteSplit = TrafficSplit & { sites: ReadonlyMap<string, Site> }

/** The site that this visitor sees, and the headers its responses need. */
export type Variant = { site: Site; headers: Headers }

/**
 * Chooses the variant for one request; falls back to the domain's own alias if none is left. Responses of a split are
 * private: a shared cache would show everybody the same variant. contract §10.
 */
export function chooseVariant(
  ctx: Pick<Context, 'newId'>,
  site: Site,
  split: SiteSplit,
  { request, facts, trace }: { request: Request; facts: RequestFacts; trace?: Trace | undefined },
): Variant {
  const find = (alias: string) => split.sites.get(alias.toLowerCase())
  const choice = chooseAlias(
    split,
    factsOf(request),
    (alias) => find(alias) !== undefined,
    () => fractionOf(ctx.newId()),
  )
  const shown = choice === null ? undefined : find(choice.alias)
  const headers = new Headers()
  if (choice === null || shown === undefined) {
    trace?.add('traffic', 'None of the aliases of the split exists: the alias of the domain is shown')
    return { site, headers }
  }
  trace?.add('traffic', `The visitor sees ${choice.alias}: ${REASON[choice.by]}`, { ...choice })
  headers.set('x-variant', choice.alias)
  for (const name of headersThatDecide(split)) headers.append('vary', name)
  if (isRemembered(split, choice))
    headers.append('set-cookie', variantCookie(choice.alias, split.stickySeconds, facts.isSecure))
  return { site: shown, headers }
}

const REASON = {
  rule: 'a rule of the split matches',
  cookie: `chosen by the cookie ${VARIANT_COOKIE}`,
  draw: 'chosen at random by weight, so other visitors may see another',
} as const

/** Adds the variant's headers to a response. */
export function markVariant(response: Response, { headers }: Variant): Response {
  for (const [name, value] of headers) {
    if (name === 'x-variant') response.headers.set(name, value)
    else response.headers.append(name, value)
  }
  return response
}

function factsOf(request: Request): TrafficFacts {
  const cookies = request.headers.get('cookie')
  let query: URLSearchParams | undefined
  return {
    query(key) {
      query ??= new URL(request.url).searchParams
      return query.getAll(key)
    },
    cookie: (key) => cookieValues(cookies, key),
    header: (key) => request.headers.get(key),
  }
}

const variantCookie = (alias: string, maxAgeSeconds: number, isSecure: boolean): string =>
  setCookie(VARIANT_COOKIE, alias, { domain: null, maxAgeSeconds, isSecure })
