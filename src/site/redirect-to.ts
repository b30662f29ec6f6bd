import { leadFrom, type RedirectRule } from '../domain/routing/redirect-rule.ts'
import type { Result } from '../domain/routing/target.ts'
import type { Arrival } from '../http/arrival.ts'
import { markOf } from './cdn-mark.ts'
import { plainNotFound } from './pages.ts'
import type { Site } from './site.ts'
import { unlisted } from './unlisted.ts'

/**
 * The answer of a 3xx line or a redirect rule. It is asked for again each time, so that no browser pins it. A path stays one, below a path
 * form with its `mount`. contract 13 §2.
 */
export function redirectTo(
  result: Result,
  status: number,
  site: Site,
  { mount, isConditional }: { mount: string; isConditional: boolean },
): Response {
  const { isShared, commitSha } = site
  const answer = new Response(null, {
    status,
    headers: {
      location: result.origin === null ? `${mount}${result.href}` : result.href,
      'cache-control': `${isShared ? 'public' : 'private'}, max-age=0, must-revalidate`,
      'x-svc-commit': commitSha,
      ...(isShared ? {} : { vary: 'Cookie' }),
    },
  })
  markOf(site, isConditional)?.put(answer.headers)
  return unlisted(answer, site)
}

/** The answer of a redirect rule that takes the request; headers and all are those of a 3xx line. contract 13 §6. */
export function redirectByRule(
  site: Site,
  rule: RedirectRule | null,
  arrival: Arrival,
  isConditional: boolean,
): Response {
  const result = rule === null ? null : leadFrom(rule, arrival)
  return rule === null || result === null
    ? plainNotFound()
    : redirectTo(result, rule.status, site, { mount: arrival.mount, isConditional })
}
