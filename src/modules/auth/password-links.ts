import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { HOUR_MS, WEEK_MS } from '../../domain/durations.ts'
import { findUser, type User } from '../users/accounts.ts'
import {
  consumeOneTimeToken,
  createOneTimeToken,
  endOneTimeTokens,
  findOneTimeToken,
} from './one-time-tokens.ts'

/** `invite` sets the first password of an account that was made without one. */
type PasswordLinkPurpose = 'reset' | 'invite'

const PURPOSES: readonly PasswordLinkPurpose[] = ['reset', 'invite']

/** contract §3. */
const LIFE_MS: Record<PasswordLinkPurpose, number> = { reset: HOUR_MS, invite: WEEK_MS }

/** Makes a link that sets the account's password once; older links end. `expiresAt` in milliseconds. */
export function createPasswordLink(
  ctx: Context,
  tx: DbOrTx,
  userId: string,
  purpose: PasswordLinkPurpose,
): { url: string; expiresAt: number } {
  endPasswordLinks(tx, userId)
  return addPasswordLink(ctx, tx, userId, purpose)
}

/**
 * The same, but older links stay valid. For requests by unknown people: a stranger who knows an email must not end the
 * link that an administrator handed out. The link always uses the configured address, because the requester controls
 * the Host header.
 */
export function addPasswordLink(
  ctx: Context,
  tx: DbOrTx,
  userId: string,
  purpose: PasswordLinkPurpose,
): { url: string; expiresAt: number } {
  const lifeMs = LIFE_MS[purpose]
  const token = createOneTimeToken(ctx, tx, { purpose, userId, lifeMs })
  return { url: `${ctx.adminUrl()}/reset-password?token=${token}`, expiresAt: ctx.now() + lifeMs }
}

/** Ends all open links: the account was signed in to in another way, or another link was made. */
export function endPasswordLinks(tx: DbOrTx, userId: string): void {
  endOneTimeTokens(tx, userId, PURPOSES)
}

/** For the page behind a link: the account, and whether the link sets its first password. Does not use up the link. */
export function findPasswordLink(
  ctx: Context,
  token: string,
): { email: string; purpose: PasswordLinkPurpose } | undefined {
  const found = findOneTimeToken(ctx, ctx.db.orm, token, PURPOSES)
  const owner = found && findUser(ctx.db.orm, found.userId)
  return owner && { email: owner.email, purpose: found.purpose }
}

/** Uses up a link, in the caller's transaction; returns its account. Undefined if wrong, used or expired. */
export function consumePasswordLink(ctx: Context, tx: DbOrTx, token: string): User | undefined {
  const spent = consumeOneTimeToken(ctx, tx, token, PURPOSES)
  return spent && findUser(tx, spent.userId)
}
