import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { equalsInConstantTime } from '../../platform/tokens.ts'
import type { Origin } from '../auth/caller.ts'
import type { Credentials, SignedIn } from '../auth/credentials.ts'
import { createFirstAdmin, workspaceHasAdmin } from '../auth/service.ts'

/** Makes the first admin of a fresh server and signs them in. Throws 409 once there is one. contract §3. */
export async function completeSetup(
  ctx: Context,
  input: Credentials & { setupToken?: string | undefined },
  origin: Origin,
): Promise<SignedIn> {
  if (!workspaceHasAdmin(ctx) && !holdsToken(ctx, input.setupToken, origin))
    throw new AppError('unauthenticated', 'Open the set-up link that the server printed when it started', {
      code: 'SETUP_TOKEN_REQUIRED',
    })
  return createFirstAdmin(ctx, input, origin)
}

/** A request straight from this machine needs no token; one that came through a proxy is not straight. */
function holdsToken(ctx: Context, given: string | undefined, { facts }: Origin): boolean {
  return facts.isDirectLoopback || (given !== undefined && equalsInConstantTime(given, ctx.setupToken))
}
