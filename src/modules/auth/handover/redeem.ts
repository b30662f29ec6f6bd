import type { Context, RequestFacts } from '../../../context.ts'
import { audit } from '../../../db/audit.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { inTidyingTransaction } from '../../../db/tidying.ts'
import { MINUTE_MS } from '../../../domain/durations.ts'
import { AppError } from '../../../domain/errors.ts'
import { safeRedirect } from '../../../http/safe-redirect.ts'
import { hashToken } from '../../../platform/tokens.ts'
import type { User } from '../../users/accounts.ts'
import type { Origin } from '../caller.ts'
import { actorOf } from '../enter.ts'
import { deleteHandedOver, findSession, openSession, sessionCookies } from '../sessions.ts'
import { CALLBACK_PATH, consumeCode } from './code.ts'

/** Tabs opened together each bring a code. Within this time, none may end the session that another is just opening. */
const TABS_MS = MINUTE_MS
/** The longest address that `safeRedirect` accepts. */
const MAX_ADDRESS = 2048

/**
 * Redeems a code on its host. Opens a separate session with host-only cookies, which is valid on no other host and ends
 * with the session it was opened from: the code passes through an address of the site, where a contributor's service
 * worker can read it, so it must be worth nothing elsewhere. `secrets` are the secrets that the browser keeps;
 * undefined for a client that is not a browser. Returns `not-bound` for a valid code that this browser did not ask for:
 * somebody may have sent their own code, to make the visitor act as them. Throws 400 `SIGN_IN_CODE_INVALID` for a code
 * that is unknown, used, older than a minute, or for another host or browser. The gate is checked on every request, as
 * everywhere.
 */
export function redeemCode(
  ctx: Context,
  code: string,
  secrets: readonly string[] | undefined,
  origin: Origin,
): { setCookies: string[] } | 'not-bound' {
  const redeemed = inTidyingTransaction(ctx.db, (tx) => {
    const spent = consumeCode(ctx, tx, code)
    // A visit to the wrong host uses up the code too, because whoever sent it there has seen it.
    if (spent?.handover.host !== origin.facts.host) return undefined
    const { sessionId, browser } = spent.handover
    if (findSession(tx, sessionId) === undefined) return undefined
    if (browser === null && secrets !== undefined) return 'not-bound'
    if (browser !== null && !secrets?.some((secret) => hashToken(secret) === browser)) return undefined
    return { setCookies: openHere(ctx, tx, spent.user, sessionId, origin) }
  })
  if (redeemed !== undefined) return redeemed
  throw new AppError('invalid', 'This sign-in link has been used or has expired. Sign in again.', {
    code: 'SIGN_IN_CODE_INVALID',
  })
}

/** Opens the session for this host only, replacing that of an earlier visit; returns its cookies. */
function openHere(ctx: Context, tx: DbOrTx, user: User, openedFrom: string, origin: Origin): string[] {
  const { facts, userAgent } = origin
  // This browser's cookies are replaced, so the session of its last visit is no longer needed.
  deleteHandedOver(tx, openedFrom, facts.host, ctx.now() - TABS_MS)
  const from = { ip: facts.ip, userAgent, onlyOn: facts.host, openedFrom }
  const { id, tokens } = openSession(ctx, tx, user.id, from)
  const target = { kind: 'session', id, name: facts.host }
  audit(ctx, tx, actorOf(user, id, origin), { action: 'session.open', target })
  return sessionCookies(ctx, tokens, facts)
}

/** Asks the admin host for a code that only the browser with `secret` can redeem, and that leads back to `path`. */
export function askForOwnCode(ctx: Context, facts: RequestFacts, secret: string, path: string): string {
  const callback = `${ctx.siteUrl(facts.host)}${CALLBACK_PATH}`
  const backTo = (redirect: string) =>
    `${callback}?${new URLSearchParams({ browser: hashToken(secret), redirect })}`
  const back = backTo(path).length > MAX_ADDRESS ? backTo('/') : backTo(path)
  return `${ctx.adminUrl()}/signin?${new URLSearchParams({ redirect: back })}`
}

/** Where to go on the same host after redeeming a code: always a path, never another host. */
export const pathAfterCallback = (ctx: Context, address: string | undefined): string => {
  const path = safeRedirect(ctx, address)
  return path?.startsWith('/') ? path : '/'
}
