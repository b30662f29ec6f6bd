/**
 * The headers that protect our pages: they run and load only what we serve, cannot be framed, and are not stored.
 * `more` adds to what this page may do. There is no `Referrer-Policy: no-referrer`, because browsers would then send
 * forms with `Origin: null`, which is rejected.
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
