/**
 * Whether a person may be looking: browsers name `text/html` when they navigate to a page; programs and scripts do not,
 * or accept anything.
 */
export function acceptsHtml(request: Request): boolean {
  const ranges = request.headers.get('accept')?.split(',') ?? []
  return ranges.some((range) => PAGE.test(range) && !REFUSED.test(range))
}

const PAGE = /^\s*(text\/html|application\/xhtml\+xml)\b/i
/** The weight 0. RFC 9110 §12.4.2. */
const REFUSED = /;\s*q=0(\.0*)?\s*$/i
