import type { Context } from '../context.ts'

const MAX_LENGTH = 2048
/** `/path` of this host, but not `//host`. */
const OWN_PATH = /^\/(?!\/)/
const ABSOLUTE = /^https?:\/\/[^/]/i

/**
 * The address that somebody asked to be sent to after signing in, when it leads to a host of this workspace: a path of
 * the same host, or an address of the admin or a site in the scheme and port that our own links have. Undefined for
 * anything else, since whoever wrote the link is not known: `https://svc.example/signin?redirect=//evil.example`.
 */
export function safeRedirect(ctx: Context, address: string | null | undefined): string | undefined {
  if (!address || address.length > MAX_LENGTH || holdsTrap(address)) return undefined
  if (OWN_PATH.test(address)) return inAscii(address)
  const url = ABSOLUTE.test(address) ? URL.parse(address) : null
  if (url === null || url.username !== '' || url.password !== '') return undefined
  if (isWorkspaceOrigin(ctx, url)) return url.href
  // A site's own domain may be written with another scheme or port: it is reached where our links say.
  const isOwnDomain = !isBelow(ctx, url.hostname) && ctx.siteAt(url.hostname) !== null
  return isOwnDomain ? `${ctx.siteUrl(url.hostname)}${url.pathname}${url.search}${url.hash}` : undefined
}

/** Where one signs in and goes on to `address`, if that is in the workspace: whoever comes back is checked there. */
export const signInAddress = (ctx: Context, address: string): string =>
  `${ctx.adminUrl()}/signin?redirect=${encodeURIComponent(address)}`

/** As a header can say it. Written as it is otherwise: a parser would make `//evil.example` of `/.//evil.example`. */
const inAscii = (path: string): string =>
  path.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text))

/** Browsers read a backslash as a slash and drop control characters, so both can hide where an address leads. */
function holdsTrap(address: string): boolean {
  return /[\\ \p{Cc}]/u.test(address)
}

/** Another port is another server, which the session must not be shown to. */
function isWorkspaceOrigin(ctx: Context, { origin, hostname }: URL): boolean {
  if (origin === ctx.adminUrl()) return true
  return isBelow(ctx, hostname) && origin === new URL(ctx.siteUrl(hostname)).origin
}

const isBelow = (ctx: Context, hostname: string): boolean => hostname.endsWith(`.${ctx.config.baseDomain}`)

/** Whether a session cookie set on one host is sent to the other too. contract §1: BASE_DOMAIN. */
export function sharesSession(ctx: Context, host: string, other: string): boolean {
  const { baseDomain } = ctx.config
  const isBelow = (name: string) => name === baseDomain || name.endsWith(`.${baseDomain}`)
  return host === other || (baseDomain.includes('.') && isBelow(host) && isBelow(other))
}
