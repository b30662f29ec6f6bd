import type { Context } from '../context.ts'
import { cookieValues, setCookie } from '../domain/cookies.ts'
import {
  chooseAlias,
  headersThatDecide,
  isRemembered,
  type TrafficFacts,
  VARIANT_COOKIE,
} from '../domain/traffic.ts'
import type { Arrival } from '../http/arrival.ts'
import { fractionOf } from '../platform/random.ts'
import type { Site, SiteSplit } from './site.ts'
import type { Variant, Visitor } from './visit.ts'

/**
 * Chooses the variant for one request; falls back to the domain's own alias if none is left. Responses of a split are
 * private: a shared cache would show everybody the same variant. contract §10.
 */
export function chooseVariant(
  ctx: Pick<Context, 'newId'>,
  site: Site,
  split: SiteSplit,
  { arrival, facts, trace }: Visitor,
): Variant {
  const find = (alias: string) => split.sites.get(alias.toLowerCase())
  const choice = chooseAlias(
    split,
    factsOf(arrival),
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

function factsOf({ request: { headers }, search }: Arrival): TrafficFacts {
  const cookies = headers.get('cookie')
  let query: URLSearchParams | undefined
  return {
    query(key) {
      query ??= new URLSearchParams(search)
      return query.getAll(key)
    },
    cookie: (key) => cookieValues(cookies, key),
    header: (key) => headers.get(key),
  }
}

const variantCookie = (alias: string, maxAgeSeconds: number, isSecure: boolean): string =>
  setCookie(VARIANT_COOKIE, alias, { domain: null, maxAgeSeconds, isSecure })
