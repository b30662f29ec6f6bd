import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { equalsInConstantTime } from '../../platform/tokens.ts'
import type { Origin } from '../auth/caller.ts'
import type { Credentials, SignedIn } from '../auth/credentials.ts'
import { createFirstAdmin, refuseSecondAdmin } from '../auth/service.ts'

/** Makes the first admin of a fresh server and signs them in. Throws 409 once there is one. contract §3. */
export async function completeSetup(
  ctx: Context,
  input: Credentials & { setupToken?: string | undefined },
  origin: Origin,
): Promise<SignedIn> {
  refuseSetup(ctx, input.setupToken, origin)
  return createFirstAdmin(ctx, input, origin)
}

/** The part that comes before the rest of the input is looked at: 409 once there is an admin, 401 without the token. */
export function refuseSetup(ctx: Context, setupToken: string | undefined, origin: Origin): void {
  refuseSecondAdmin(ctx)
  if (!holdsToken(ctx, setupToken, origin))
    throw new AppError('unauthenticated', 'Open the set-up link that the server printed when it started', {
      code: 'SETUP_TOKEN_REQUIRED',
    })
}

/**
 * A request straight from this machine needs no token; one that came through a proxy is not straight. A token that came
 * along must be the right one all the same.
 */
function holdsToken(ctx: Context, given: string | undefined, { facts }: Origin): boolean {
  return given ? equalsInConstantTime(given, ctx.setupToken) : facts.isDirectLoopback
}
