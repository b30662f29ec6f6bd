import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'
import { findSealedUrl } from './queries.ts'
import { originOfHook } from './sealed.ts'

/** How many hooks are remembered; above it all are opened again. */
const MAX_KNOWN = 5_000

type Known = { sealedUrl: string; receiver: string }
const knownOf = onePer((_: Context) => new Map<string, Known>())

/**
 * Whom a hook tells: an origin. An address that this server's key does not open is a receiver of its own, which fails.
 * Undefined without such a hook. What was opened is remembered, as all that waits is looked at with each new event.
 */
export function receiverOf(ctx: Context, hookId: string): string | undefined {
  const sealedUrl = findSealedUrl(ctx.db, hookId)
  if (sealedUrl === undefined) return undefined
  const known = knownOf(ctx)
  const before = known.get(hookId)
  if (before?.sealedUrl === sealedUrl) return before.receiver
  if (known.size >= MAX_KNOWN) known.clear()
  const receiver = originOfHook(ctx.secrets, { id: hookId, sealedUrl }) || hookId
  known.set(hookId, { sealedUrl, receiver })
  return receiver
}
