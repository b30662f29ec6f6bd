import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { equalsInConstantTime } from '../../platform/tokens.ts'
import type { Origin } from '../auth/caller.ts'
import { enterNew } from '../auth/enter.ts'
import type { SignedIn } from '../auth/sessions.ts'
import { newAccountWithPassword } from '../users/accounts.ts'
import { hasAdmin } from '../users/has-admin.ts'

/** Once true, always true: the last admin can be neither demoted nor deleted. */
export function workspaceHasAdmin(ctx: Context): boolean {
  const known = adminSeen.has(ctx) || hasAdmin(ctx.db)
  if (known) adminSeen.add(ctx)
  return known
}
const adminSeen = new WeakSet<Context>()

/** Makes the first admin of a fresh server and signs them in. Throws 409 when there already is one. contract §3. */
export async function completeSetup(
  ctx: Context,
  input: { email: string; password: string; setupToken?: string | undefined },
  origin: Origin,
): Promise<SignedIn> {
  refuseSetup(ctx, input.setupToken, origin)
  const user = await newAccountWithPassword(ctx, { ...input, role: 'admin' })
  // Somebody else may have been faster while the password was hashed.
  return enterNew(ctx, user, origin, { before: () => refuseSecondAdmin(ctx) })
}

/** Runs before the rest of the input is checked: 409 when there already is an admin, 401 without the token. */
export function refuseSetup(ctx: Context, setupToken: string | undefined, origin: Origin): void {
  refuseSecondAdmin(ctx)
  if (!holdsToken(ctx, setupToken, origin))
    throw new AppError('unauthenticated', 'Open the set-up link that the server printed when it started', {
      code: 'SETUP_TOKEN_REQUIRED',
    })
}

/**
 * A request that comes directly from this machine, not through a proxy, needs no token. A token that is sent must be
 * right in any case.
 */
function holdsToken(ctx: Context, given: string | undefined, { facts }: Origin): boolean {
  return given ? equalsInConstantTime(given, ctx.setupToken) : facts.isDirectLoopback
}

function refuseSecondAdmin({ db }: Context): void {
  if (hasAdmin(db)) throw new AppError('conflict', 'The set-up is complete: there is already an admin')
}
