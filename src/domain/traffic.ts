/** How a domain splits its visitors. contract §10. `weights` add up to 100. */
export type TrafficSplit = {
  weights: readonly TrafficWeight[]
  sticky: boolean
  stickySeconds: number
  rules: readonly TrafficRule[]
}
export type TrafficWeight = { alias: string; weight: number }
export type TrafficRule = { type: 'query' | 'cookie' | 'header'; key: string; value: string; alias: string }

/** The cookie that holds the alias assigned to a visitor. */
export const VARIANT_COOKIE = '__svc_variant'

/** The parts of a request that the choice depends on. `cookie` returns all values of a name. */
export type TrafficFacts = {
  query: (key: string) => readonly string[]
  cookie: (key: string) => readonly string[]
  header: (key: string) => string | null
}

type TrafficChoice = { alias: string; by: 'rule' | 'cookie' | 'draw'; rule: TrafficRule | null }

/**
 * Chooses the alias a visitor sees: by the first matching rule, else by the cookie, else at random; `position` returns
 * a random number from 0 (inclusive) to 1 (exclusive). Ignores aliases for which `isThere` is false; null if none is
 * left. Aliases are compared case-insensitively.
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

/** A visitor who came by a query rule keeps its alias, so that the page's files come from the same deployment. */
export const isRemembered = (split: TrafficSplit, { by, rule }: TrafficChoice): boolean =>
  split.sticky && (by === 'draw' || (by === 'rule' && rule?.type === 'query'))

/** The request headers that the choice may depend on, for `Vary`. */
export function headersThatDecide({ rules }: TrafficSplit): string[] {
  return [...new Set(rules.filter(({ type }) => type === 'header').map(({ key }) => key))]
}

function holds({ type, key, value }: TrafficRule, facts: TrafficFacts): boolean {
  if (type === 'header') return facts.header(key) === value
  return facts[type](key).includes(value)
}

/** An alias whose weight becomes 0 loses its visitors; one that only a query rule selects keeps them. */
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
