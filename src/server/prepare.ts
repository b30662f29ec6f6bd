import type { Context } from '../context.ts'
import { shipped } from '../db/shipped.ts'
import { messageOf } from '../domain/errors.ts'
import { openTargets } from '../modules/cdn/targets.ts'
import { hasAdmin } from '../modules/users/has-admin.ts'
import { ServeError } from './listeners.ts'

/** What a server that may write does before its first request. */
export async function prepare(ctx: Context): Promise<void> {
  await createUnattendedAdmin(ctx)
  await shipped(ctx).catch((error) => {
    throw new ServeError(messageOf(error))
  })
  openTargets(ctx)
}

async function createUnattendedAdmin(ctx: Context): Promise<void> {
  const { adminEmail, adminPassword } = ctx.config
  if (adminEmail === null || adminPassword === null || hasAdmin(ctx.db)) return
  const { createAccount } = await import('../modules/users/service.ts')
  await createAccount(
    ctx,
    { email: adminEmail, password: adminPassword, role: 'admin' },
    { kind: 'operator' },
  )
}
