import type { Context, RequestFacts } from '../../../context.ts'
import { audit } from '../../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../../db/open.ts'
import { MINUTE_MS } from '../../../domain/durations.ts'
import { AppError } from '../../../domain/errors.ts'
import { safeRedirect } from '../../../http/safe-redirect.ts'
import { hashToken } from '../../../platform/tokens.ts'
import type { User } from '../../users/accounts.ts'
import type { Origin } from '../caller.ts'
import { actorOf } from '../enter.ts'
import { deleteHandedOver, findSession, openSession, sessionCookies } from '../sessions.ts'
import { CALLBACK_PATH, consumeCode } from './code.ts'

/** Tabs that are opened together each come with a code: none may end the session that another is on its way with. */
const TABS_MS = MINUTE_MS
/** What `safeRedirect` takes. */
const MOST_ADDRESS = 2048

/**
 * Redeems a code on the host that it was made for: a session of its own with host-only cookies, which counts on no other
 * host and ends with the one that it was opened from. The code passes through an address of the site, where a service
 * worker of its contributors can read it: what that is worth must end at the site. `secrets`: what the browser keeps;
 * undefined for a client that is no browser. `not-bound`: a good code, but not one that this browser asked for; somebody
 * may have sent their own, to have the visitor act as them. Throws 400 `SIGN_IN_CODE_INVALID` for a code that is unknown,
 * used, older than a minute, or for another host or browser. The gate is asked with each request, as everywhere.
 */
export function redeemCode(
  ctx: Context,
  code: string,
  secrets: readonly string[] | undefined,
  origin: Origin,
): { setCookies: string[] } | 'not-bound' {
  const redeemed = inTransaction(ctx.db, (tx) => {
    const spent = consumeCode(ctx, tx, code)
    // The code is spent by a visit to the wrong host too: whoever brings it there has seen it.
    if (spent?.handover.host !== origin.facts.host) return undefined
    const { sessionId, browser } = spent.handover
    if (findSession(tx, sessionId) === undefined) return undefined
    if (browser === null && secrets !== undefined) return 'not-bound'
    if (browser !== null && !secrets?.some((secret) => hashToken(secret) === browser)) return undefined
    return { setCookies: openHere(ctx, tx, spent.user, sessionId, origin) }
  })
  if (redeemed !== undefined) return redeemed
  throw new AppError('invalid', 'This sign-in link was used already or is too old. Sign in again.', {
    code: 'SIGN_IN_CODE_INVALID',
  })
}

/** Opens the session of this host only, in place of the one of an earlier visit; returns its cookies. */
function openHere(ctx: Context, tx: DbOrTx, user: User, openedFrom: string, origin: Origin): string[] {
  const { facts, userAgent } = origin
  // Its cookies are replaced, so the one of the last visit is worth nothing more.
  deleteHandedOver(tx, openedFrom, facts.host, ctx.now() - TABS_MS)
  const from = { ip: facts.ip, userAgent, onlyOn: facts.host, openedFrom }
  const { id, tokens } = openSession(ctx, tx, user.id, from)
  audit(ctx, tx, actorOf(user, id, origin), { action: 'session.open', target: { kind: 'session', id } })
  return sessionCookies(ctx, tokens, facts)
}

/** Asks the admin host for a code that only the browser with `secret` can redeem, and for the way back to `path`. */
export function askForOwnCode(ctx: Context, facts: RequestFacts, secret: string, path: string): string {
  const callback = `${ctx.siteUrl(facts.host)}${CALLBACK_PATH}`
  const backTo = (redirect: string) =>
    `${callback}?${new URLSearchParams({ browser: hashToken(secret), redirect })}`
  const back = backTo(path).length > MOST_ADDRESS ? backTo('/') : backTo(path)
  return `${ctx.adminUrl()}/signin?${new URLSearchParams({ redirect: back })}`
}

/** Where to go on the same host after redeeming a code: a path, never another host. */
export const pathAfterCallback = (ctx: Context, address: string | undefined): string => {
  const path = safeRedirect(ctx, address)
  return path?.startsWith('/') ? path : '/'
}
