import type { Context, RequestFacts, SessionUser } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { safeRedirect, sharesSession } from '../../http/safe-redirect.ts'
import { hashToken } from '../../platform/tokens.ts'
import { findUser } from '../users/accounts.ts'
import type { Origin } from './caller.ts'
import { actorOf } from './credentials.ts'
import { consumeOneTimeToken, createOneTimeToken } from './one-time-tokens.ts'
import { deleteHandedOver, findSession } from './queries.ts'
import { openSession, sessionCookies } from './sessions.ts'

/** Where a code is redeemed, on every site host. */
export const CALLBACK_PATH = '/_svc/auth/callback'

const CODE_MS = MINUTE_MS
/** Tabs that are opened together each come with a code: none may end the session that another is on its way with. */
const TABS_MS = MINUTE_MS
/** What `safeRedirect` takes. */
const MOST_ADDRESS = 2048

/** What a code is for. `browser`: the hash of the secret that the one browser keeps which may redeem it; null for any. */
type Handover = { host: string; sessionId: string; browser: string | null }

/** Who is signed in, and by which session. */
type SignedInAs = { user: SessionUser; sessionId: string }

/**
 * Where somebody who is signed in here goes on to: a path of this host or an address of the workspace. A host that the
 * session cookies do not reach is reached by a one-time code for it, made only now. Undefined for an address that does
 * not lead into the workspace. contract §4: redirect after sign-in.
 */
export function destinationOf(
  ctx: Context,
  facts: RequestFacts,
  person: SignedInAs,
  address: string | undefined,
): string | undefined {
  const target = safeRedirect(ctx, address)
  if (target === undefined || target.startsWith('/')) return target
  const url = new URL(target)
  const needsCode = ctx.siteAt(url.hostname) !== null && !sharesSession(ctx, facts.host, url.hostname)
  return needsCode ? handOver(ctx, person, url) : target
}

/**
 * The link to a private site for somebody who is signed in here: by way of the sign-in page, which hands the session on,
 * where its cookies do not reach. Without that they would find nothing there. The site itself for one that is public.
 */
export function visitAddress(
  ctx: Context,
  facts: RequestFacts,
  { url, isPublic }: { url: string; isPublic: boolean },
): string {
  if (isPublic || sharesSession(ctx, facts.host, new URL(url).hostname)) return url
  return `/signin?${new URLSearchParams({ redirect: url })}`
}

function handOver(ctx: Context, { user, sessionId }: SignedInAs, target: URL): string {
  const isCallback = target.pathname === CALLBACK_PATH
  const data: Handover = {
    host: target.hostname,
    sessionId,
    browser: isCallback ? target.searchParams.get('browser') : null,
  }
  const code = inTransaction(ctx.db, (tx) =>
    createOneTimeToken(ctx, tx, {
      purpose: 'site_code',
      userId: user.id,
      lifeMs: CODE_MS,
      data: JSON.stringify(data),
    }),
  )
  const path = isCallback
    ? (target.searchParams.get('redirect') ?? '/')
    : `${target.pathname}${target.search}${target.hash}`
  return `${target.origin}${CALLBACK_PATH}?${new URLSearchParams({ code, redirect: path })}`
}

/** Asks the admin host for a code that only the browser with `secret` can redeem, and for the way back to `path`. */
export function askForOwnCode(ctx: Context, facts: RequestFacts, secret: string, path: string): string {
  const callback = `${ctx.siteUrl(facts.host)}${CALLBACK_PATH}`
  const backTo = (redirect: string) =>
    `${callback}?${new URLSearchParams({ browser: hashToken(secret), redirect })}`
  const back = backTo(path).length > MOST_ADDRESS ? backTo('/') : backTo(path)
  return `${ctx.adminUrl()}/signin?${new URLSearchParams({ redirect: back })}`
}

/**
 * Redeems a code on the host that it was made for: a session of its own with host-only cookies, which counts on no other
 * host and ends with the one that it was opened from. The code passes through an address of the site, where a service
 * worker of its contributors can read it: what that is worth must end at the site. `secrets`: what the browser keeps;
 * undefined for a client that is no browser. `not-bound`: a good code, but not one that this browser asked for; somebody
 * may have sent their own, to have the visitor act as them. Throws 400 for a code that is unknown, used, older than a
 * minute, or for another host or browser. The gate is asked with each request, as everywhere.
 */
export function redeemCode(
  ctx: Context,
  code: string,
  secrets: readonly string[] | undefined,
  origin: Origin,
): { setCookies: string[] } | 'not-bound' {
  const { facts, userAgent } = origin
  const tokens = inTransaction(ctx.db, (tx) => {
    const spent = consumeOneTimeToken(ctx, tx, code, ['site_code'])
    const user = spent && findUser(tx, spent.userId)
    const made = JSON.parse(spent?.data ?? 'null') as Handover | null
    // The code is spent by a visit to the wrong host too: whoever brings it there has seen it.
    if (user === undefined || made?.host !== facts.host || findSession(tx, made.sessionId) === undefined)
      return undefined
    if (made.browser === null && secrets !== undefined) return 'not-bound'
    if (made.browser !== null && !secrets?.some((secret) => hashToken(secret) === made.browser))
      return undefined
    // Its cookies are replaced, so the one of the last visit is worth nothing more.
    deleteHandedOver(tx, made.sessionId, facts.host, ctx.now() - TABS_MS)
    const from = { ip: facts.ip, userAgent, onlyOn: facts.host, openedFrom: made.sessionId }
    const session = openSession(ctx, tx, user.id, from)
    audit(ctx, tx, actorOf(user, session.id, origin), {
      action: 'session.open',
      target: { kind: 'session', id: session.id },
    })
    return session.tokens
  })
  if (tokens === undefined)
    throw new AppError('invalid', 'This sign-in link was used already or is too old. Sign in again.', {
      code: 'SIGN_IN_CODE_INVALID',
    })
  return tokens === 'not-bound' ? tokens : { setCookies: sessionCookies(ctx, tokens, facts) }
}

/** Where to go on the same host after redeeming a code: a path, never another host. */
export const pathAfterCallback = (ctx: Context, address: string | undefined): string => {
  const path = safeRedirect(ctx, address)
  return path?.startsWith('/') ? path : '/'
}
