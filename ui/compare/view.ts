import { COMPARE_VIEW_COOKIE, cookieValues, setCookie } from '../../src/domain/cookies.ts'
import { DAY_SECONDS } from '../../src/domain/durations.ts'
import { factsOf, requestState } from '../../src/http/request-facts.ts'
import { queryOf } from '../frame/page-request.ts'

export type View = 'unified' | 'split'

/** Lines of a comparison on a page: more would keep the browser, and others here, waiting. */
export const MAX_LINES = 2_000

/** The view that the address asks for, which is remembered, else the one before. */
export function viewOf(request: Request): View {
  const asked = queryOf(request, 'view')
  const remembered = cookieValues(request.headers.get('cookie'), COMPARE_VIEW_COOKIE).at(0)
  const view = (asked ?? remembered) === 'split' ? 'split' : 'unified'
  if (asked !== undefined) {
    const { isSecure } = factsOf(request)
    const options = { domain: null, path: '/projects', maxAgeSeconds: 365 * DAY_SECONDS, isSecure }
    requestState(request).setCookies.push(setCookie(COMPARE_VIEW_COOKIE, view, options))
  }
  return view
}
