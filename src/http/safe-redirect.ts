import type { Context } from '../context.ts'

const MAX_LENGTH = 8192
/** `/path` on this host, but not `//host`. */
const OWN_PATH = /^\/(?!\/)/
const ABSOLUTE = /^https?:\/\/[^/]/i

/**
 * Returns the requested redirect target after sign-in if it is in this workspace: a path on the same host, or a URL of
 * the admin or a site with the scheme and port of our own links. Undefined for anything else, because anybody may have
 * written the link: `https://svc.example/signin?redirect=//evil.example`.
 */
export function safeRedirect(ctx: Context, address: string | null | undefined): string | undefined {
  if (!address || address.length > MAX_LENGTH || holdsTrap(address)) return undefined
  if (OWN_PATH.test(address)) return inAscii(address)
  const url = ABSOLUTE.test(address) ? URL.parse(address) : null
  if (url === null || url.username !== '' || url.password !== '') return undefined
  if (isWorkspaceOrigin(ctx, url)) return url.href
  // A custom domain may be given with another scheme or port; the redirect uses those of our links.
  const isOwnDomain = !isBelow(ctx, url.hostname) && ctx.siteAt(url.hostname) !== null
  return isOwnDomain ? `${ctx.siteUrl(url.hostname)}${url.pathname}${url.search}${url.hash}` : undefined
}

/**
 * The sign-in URL that continues to `address`, if it is in the workspace; it is checked after the sign-in. A backslash
 * that a client sent as it is would look like a trap then.
 */
export const signInAddress = (ctx: Context, address: string): string =>
  `${ctx.adminUrl()}/signin?redirect=${encodeURIComponent(address.replaceAll('\\', '%5C'))}`

/** Encodes only what a header cannot contain. A URL parser would turn `//evil.example` into `/.//evil.example`. */
const inAscii = (path: string): string =>
  path.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text))

/** Browsers treat a backslash as a slash and drop control characters, so both can hide where a URL leads. */
function holdsTrap(address: string): boolean {
  return /[\\ \p{Cc}]/u.test(address)
}

/** Another port is another server, which must not get the session. */
function isWorkspaceOrigin(ctx: Context, { origin, hostname }: URL): boolean {
  if (origin === ctx.adminUrl()) return true
  return isBelow(ctx, hostname) && origin === new URL(ctx.siteUrl(hostname)).origin
}

const isBelow = (ctx: Context, hostname: string): boolean => hostname.endsWith(`.${ctx.config.baseDomain}`)

/** Whether a session cookie set on one host is also sent to the other. contract §1: BASE_DOMAIN. */
export function sharesSession(ctx: Context, host: string, other: string): boolean {
  const { baseDomain } = ctx.config
  const isBelow = (name: string) => name === baseDomain || name.endsWith(`.${baseDomain}`)
  return host === other || (baseDomain.includes('.') && isBelow(host) && isBelow(other))
}
