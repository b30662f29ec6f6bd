import { matchesPath } from '../domain/path-pattern.ts'
import type { Arrival } from '../http/arrival.ts'
import type { SiteRule } from './site-rules.ts'
import type { Trace } from './trace.ts'

/**
 * Finds the first enabled rule that matches the method and the plain path. `trace` records every rule that was checked.
 */
export function chooseRule(
  rules: readonly SiteRule[],
  { method, plain }: Pick<Arrival, 'method' | 'plain'>,
  trace?: Trace,
): SiteRule | undefined {
  for (const rule of rules) {
    const miss = whyNot(rule, method, plain)
    trace?.rule(rule, miss)
    if (miss === null) return rule
  }
  return undefined
}

type Miss = 'disabled' | 'path' | 'method'

function whyNot({ record, pattern, methods }: SiteRule, method: string, plain: string): Miss | null {
  if (!record.isEnabled) return 'disabled'
  if (!matchesPath(pattern, plain)) return 'path'
  return methods === null || methods.has(method) ? null : 'method'
}
