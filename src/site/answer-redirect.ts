import { leadFrom, type RedirectRule } from '../domain/routing/redirect-rule.ts'
import type { Arrival } from '../http/arrival.ts'
import { plainNotFound } from './pages.ts'
import { redirect } from './serve-asset.ts'
import type { Site } from './site.ts'

/** The answer of a redirect rule that takes the request. Below a path form a path keeps the form's prefix. contract 13 §2. */
export function answerRedirect(rule: RedirectRule | null, site: Site, arrival: Arrival): Response {
  const result = rule === null ? null : leadFrom(rule, arrival)
  if (rule === null || result === null) return plainNotFound()
  const location = result.origin === null ? `${arrival.mount}${result.href}` : result.href
  const answer = redirect(location, site, rule.status)
  if (site.isNoindex) answer.headers.set('x-robots-tag', 'noindex')
  return answer
}
