/**
 * The headers of a page of ours, with all that protects it: nothing runs or loads that is not served here, nobody frames
 * it, nobody keeps it. `more`: what this page may besides. No `Referrer-Policy: no-referrer`: forms would be sent with
 * `Origin: null`, and refused.
 */
export const pageHeaders = (...more: readonly string[]) => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': [...POLICY, ...more].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
})

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]
