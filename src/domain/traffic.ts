/** How a domain divides its visitors. contract §10. `weights` sum up to 100. */
export type TrafficSplit = {
  weights: readonly TrafficWeight[]
  sticky: boolean
  stickySeconds: number
  rules: readonly TrafficRule[]
}
export type TrafficWeight = { alias: string; weight: number }
export type TrafficRule = { type: 'query' | 'cookie' | 'header'; key: string; value: string; alias: string }

/** Holds the alias that a visitor was given. */
export const VARIANT_COOKIE = '__svc_variant'

/** What of a request decides. `cookie` looks up every value of a name. */
export type TrafficFacts = {
  query: (key: string) => readonly string[]
  cookie: (key: string) => readonly string[]
  header: (key: string) => string | null
}

type TrafficChoice = { alias: string; by: 'rule' | 'cookie' | 'draw'; rule: TrafficRule | null }

/**
 * Which alias a visitor sees: by the first rule that holds, else by the cookie, else by a draw, `position` being a random
 * number from 0 up to 1. Only aliases for which `isThere` count; null when none is left. Aliases are compared without
 * regard to case.
 */
export function chooseAlias(
  split: TrafficSplit,
  facts: TrafficFacts,
  isThere: (alias: string) => boolean,
  position: () => number,
): TrafficChoice | null {
  const rule = split.rules.find((one) => isThere(one.alias) && holds(one, facts))
  if (rule !== undefined) return { alias: rule.alias, by: 'rule', rule }
  const open = split.weights.filter(({ alias, weight }) => weight > 0 && isThere(alias))
  const kept = split.sticky ? keptAlias(split, open, facts, isThere) : undefined
  if (kept !== undefined) return { alias: kept, by: 'cookie', rule: null }
  const drawn = draw(open, position)
  return drawn === null ? null : { alias: drawn, by: 'draw', rule: null }
}

/** Whoever came by a query rule keeps its alias, so that the files of the page come from where the page did. */
export const isRemembered = (split: TrafficSplit, { by, rule }: TrafficChoice): boolean =>
  split.sticky && (by === 'draw' || (by === 'rule' && rule?.type === 'query'))

/** The headers of a request that the choice may depend on, for `Vary`. */
export function headersThatDecide({ rules }: TrafficSplit): string[] {
  return [...new Set(rules.filter(({ type }) => type === 'header').map(({ key }) => key))]
}

function holds({ type, key, value }: TrafficRule, facts: TrafficFacts): boolean {
  if (type === 'header') return facts.header(key) === value
  return facts[type](key).includes(value)
}

/** An alias whose weight went to 0 lets its visitors go; one that only a query rule leads to keeps them. */
function keptAlias(
  split: TrafficSplit,
  open: readonly TrafficWeight[],
  facts: TrafficFacts,
  isThere: (alias: string) => boolean,
): string | undefined {
  const byQuery = split.rules.filter(({ type, alias }) => type === 'query' && isThere(alias))
  const names = [...open, ...byQuery].map(({ alias }) => alias)
  for (const value of facts.cookie(VARIANT_COOKIE)) {
    const found = names.find((alias) => alias.toLowerCase() === value.toLowerCase())
    if (found !== undefined) return found
  }
  return undefined
}

function draw(open: readonly TrafficWeight[], position: () => number): string | null {
  const total = open.reduce((sum, { weight }) => sum + weight, 0)
  let left = position() * total
  for (const { alias, weight } of open) {
    left -= weight
    if (left < 0) return alias
  }
  return open.at(-1)?.alias ?? null
}
