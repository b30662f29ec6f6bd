import type { Context } from '../../context.ts'
import type { GlobalRole } from '../../domain/roles.ts'
import type { User } from './queries.ts'

/** An account that is yet to be stored. `email` is normalised; `passwordHash` null: nobody can sign in with a password yet. */
export function newAccount(
  ctx: Pick<Context, 'now' | 'newId'>,
  { email, passwordHash, role }: { email: string; passwordHash: string | null; role: GlobalRole },
): User {
  const now = ctx.now()
  return {
    id: ctx.newId(),
    email,
    passwordHash,
    role,
    totpSecret: null,
    totpLastStep: 0,
    createdAt: now,
    updatedAt: now,
  }
}
