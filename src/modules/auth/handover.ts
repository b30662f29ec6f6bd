import type { Context, RequestFacts } from '../../context.ts'
import { safeRedirect, sharesSession } from '../../http/safe-redirect.ts'
import { CALLBACK_PATH, createCode } from './handover/code.ts'
import type { SignedIn } from './sessions.ts'

/** Who is signed in, and with which session. */
type SignedInAs = Omit<SignedIn, 'setCookies'>

/**
 * Where to send somebody after they sign in here: a path of this host or an address of the workspace. A host that the
 * session cookies do not reach gets a one-time code, made only now. Undefined for an address outside the workspace and
 * for one of our API calls: otherwise whoever wrote the link would make the person call it. contract §4: redirect after
 * sign-in.
 */
export function destinationOf(
  ctx: Context,
  facts: RequestFacts,
  person: SignedInAs,
  address: string | undefined,
): string | undefined {
  const target = safeRedirect(ctx, address)
  if (target === undefined || isAuthCall(ctx, target)) return undefined
  if (target.startsWith('/')) return target
  const url = new URL(target)
  const needsCode = ctx.siteAt(url.hostname) !== null && !sharesSession(ctx, facts.host, url.hostname)
  return needsCode ? handOver(ctx, person, url) : target
}

const isAuthCall = (ctx: Context, target: string): boolean =>
  new URL(target, ctx.adminUrl()).pathname.startsWith('/api/auth/')

/**
 * The link to a private site for somebody who is signed in here. If the session cookies do not reach the site, the link
 * leads through the sign-in page, which hands the session over. A public site is linked directly.
 */
export function visitAddress(
  ctx: Context,
  facts: RequestFacts,
  { url, isPublic }: { url: string; isPublic: boolean },
): string {
  if (isPublic || sharesSession(ctx, facts.host, new URL(url).hostname)) return url
  return `/signin?${new URLSearchParams({ redirect: url })}`
}

/** The callback of the target's host with a code. If the target is a callback, it names the asking browser. */
function handOver(ctx: Context, { user, sessionId }: SignedInAs, target: URL): string {
  const isCallback = target.pathname === CALLBACK_PATH
  const browser = isCallback ? target.searchParams.get('browser') : null
  const code = createCode(ctx, user.id, { host: target.hostname, sessionId, browser })
  const path = isCallback
    ? (target.searchParams.get('redirect') ?? '/')
    : `${target.pathname}${target.search}${target.hash}`
  return `${target.origin}${CALLBACK_PATH}?${new URLSearchParams({ code, redirect: path })}`
}
