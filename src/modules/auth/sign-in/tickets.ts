import type { Context } from '../../../context.ts'
import { MINUTE_MS } from '../../../domain/durations.ts'
import { onePer } from '../../../platform/one-per.ts'
import { hashToken, newToken } from '../../../platform/tokens.ts'
import type { User } from '../../users/accounts.ts'

/** Who proved the first factor, and where. Kept in memory: after a restart the person starts again. */
type MfaTicket = {
  userId: string
  /** The hash when the first factor was checked: a password change ends the ticket. */
  passwordHash: string | null
  ip: string
  expiresAt: number
}

const LIFE_MS = 5 * MINUTE_MS
/** Above this number the oldest is dropped, so that unfinished sign-ins cannot fill the memory. */
const MAX_OPEN = 10_000

const ticketsOf = onePer((_: Context) => new Map<string, MfaTicket>())

/** Stands for the first factor while the person looks for the code, so that no page holds the password. */
export function issueMfaTicket(ctx: Context, user: User, ip: string): string {
  const open = ticketsOf(ctx)
  const ticket = newToken()
  open.set(hashToken(ticket), {
    userId: user.id,
    passwordHash: user.passwordHash,
    ip,
    expiresAt: ctx.now() + LIFE_MS,
  })
  const oldest = open.keys().next().value
  if (open.size > MAX_OPEN && oldest !== undefined) open.delete(oldest)
  return ticket
}

/** The ticket, if it is still valid at this address. A wrong code does not end it: the lockout counts those. */
export function findMfaTicket(ctx: Context, ticket: string, ip: string): MfaTicket | undefined {
  const found = ticketsOf(ctx).get(hashToken(ticket))
  return found !== undefined && found.expiresAt > ctx.now() && found.ip === ip ? found : undefined
}

/** A ticket opens one session. */
export function spendMfaTicket(ctx: Context, ticket: string): boolean {
  return ticketsOf(ctx).delete(hashToken(ticket))
}
