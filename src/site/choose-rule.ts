import { matchesPath } from '../domain/path-pattern.ts'
import { leadFrom } from '../domain/routing/redirect-rule.ts'
import type { Arrival } from '../http/arrival.ts'
import type { SiteRule } from './site-rules.ts'
import type { Trace } from './trace.ts'

/** What rules look at. */
type Asked = Pick<Arrival, 'method' | 'plain' | 'path' | 'search' | 'host' | 'hostHeader'>

/**
 * Finds the first enabled rule that matches the method and the plain path. `trace` records every rule that was checked.
 */
export function chooseRule(rules: readonly SiteRule[], asked: Asked, trace?: Trace): SiteRule | undefined {
  for (const rule of rules) {
    const miss = whyNot(rule, asked)
    trace?.rule(rule, miss)
    if (miss === null) return rule
  }
  return undefined
}

type Miss = 'disabled' | 'path' | 'method'

function whyNot(rule: SiteRule, asked: Asked): Miss | null {
  const { record, methods } = rule
  if (!record.isEnabled) return 'disabled'
  if (!isTaken(rule, asked)) return 'path'
  return methods === null || methods.has(asked.method) ? null : 'method'
}

/** A redirect to the very address that is asked for takes nothing. contract 13 §2. */
const isTaken = ({ record, pattern, redirect }: SiteRule, asked: Asked): boolean =>
  record.proxyType === 'redirect'
    ? redirect !== null && leadFrom(redirect, asked) !== null
    : matchesPath(pattern, asked.plain)
