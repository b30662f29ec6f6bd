import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { addresseeOf, findUser, refuseSuspendedAccount, type User } from '../users/accounts.ts'
import type { Origin } from './caller.ts'
import { checkPassword, wrongCredentials } from './check-password.ts'
import { enter } from './enter.ts'
import { passesGate } from './gate.ts'
import type { SignedIn } from './sessions.ts'
import { findMfaTicket, issueMfaTicket, spendMfaTicket } from './sign-in/tickets.ts'

/** What somebody types to sign in or up. `code` is for the second step, if the account has one. */
export type Credentials = { email: string; password: string; code?: string | undefined }

/** Signs in with email, password and, if the account has a second step, its code. */
export async function signIn(ctx: Context, input: Credentials, origin: Origin): Promise<SignedIn> {
  const user = await proveFirstFactor(ctx, input, origin)
  return enter(ctx, user, input.code, origin)
}

/**
 * An unknown email, a wrong password and, behind the gate, a missing membership give the same response in the same
 * time, and all count as failures. The gate is checked after the password and before the second step. contract §4: The
 * gate.
 */
async function proveFirstFactor(ctx: Context, input: Credentials, origin: Origin): Promise<User> {
  const addressee = addresseeOf(ctx.db.orm, input.email)
  const user = await checkPassword(ctx, addressee, input.password, origin.facts.ip)
  if (user !== undefined && passesGate(ctx, origin.facts.site, user.id)) return user
  ctx.lockout.fail(addressee.email, origin.facts.ip)
  throw wrongCredentials()
}

/** `mfa`: the password was right and the page now asks for the code, with a ticket in place of the password. */
export type SignInStep = ({ step: 'done' } & SignedIn) | { step: 'mfa'; mfaTicket: string; email: string }

/** First form of the sign-in pages: email and password. Throws as `signIn` does, except for `MFA_REQUIRED`. */
export async function beginSignIn(ctx: Context, input: Credentials, origin: Origin): Promise<SignInStep> {
  return enterOrAsk(ctx, await proveFirstFactor(ctx, input, origin), origin)
}

/** What follows after any first factor was right. Throws 403 `ACCOUNT_SUSPENDED`. */
export async function enterOrAsk(ctx: Context, user: User, origin: Origin): Promise<SignInStep> {
  refuseSuspendedAccount(user)
  if (user.totpSecret === null) return { step: 'done', ...(await enter(ctx, user, undefined, origin)) }
  return { step: 'mfa', mfaTicket: issueMfaTicket(ctx, user, origin.facts.ip), email: user.email }
}

/**
 * The second form: ticket and code. After 401 `MFA_CODE_INVALID` the same ticket may be tried again; after 401
 * `MFA_TICKET_INVALID` the sign-in starts over.
 */
export async function completeMfa(
  ctx: Context,
  input: { mfaTicket: string; code: string },
  origin: Origin,
): Promise<SignedIn> {
  const user = holderOf(ctx, input.mfaTicket, origin)
  return enter(ctx, user, input.code, origin, () => {
    if (!spendMfaTicket(ctx, input.mfaTicket)) throw ticketInvalid()
  })
}

/** The email of the ticket's account, to show beside the code field. */
export function mfaTicketEmail(ctx: Context, mfaTicket: string, origin: Origin): string | undefined {
  const ticket = findMfaTicket(ctx, mfaTicket, origin.facts.ip)
  return ticket === undefined ? undefined : findUser(ctx.db.orm, ticket.userId)?.email
}

function holderOf(ctx: Context, mfaTicket: string, origin: Origin): User {
  const ticket = findMfaTicket(ctx, mfaTicket, origin.facts.ip)
  const user = ticket === undefined ? undefined : findUser(ctx.db.orm, ticket.userId)
  const isGood =
    user !== undefined &&
    user.passwordHash === ticket?.passwordHash &&
    passesGate(ctx, origin.facts.site, user.id)
  if (!isGood) throw ticketInvalid()
  return user
}

const ticketInvalid = () =>
  new AppError('unauthenticated', 'This sign-in took too long. Start again with your password.', {
    code: 'MFA_TICKET_INVALID',
  })
