import type { Context } from '../../context.ts'
import type { AppError } from '../../domain/errors.ts'
import { notPrimary, storeUnreachable } from '../../domain/store-errors.ts'

type Told = Pick<Context, 'machine' | 'config'>

/**
 * Why nobody's access may be decided here now; null where it may: another machine may be the primary already, and have taken it
 * away. contract 18 §6.
 */
export function accessRefusal(ctx: Told): AppError | null {
  if (ctx.machine === null) return null
  if (ctx.machine.role() !== 'primary') return notPrimary()
  return isCutOff(ctx) ? storeUnreachable(false) : null
}

/** Whether this is a primary that cannot know any more that it is one. A machine that is alone knows. */
export function isCutOff({ machine, config }: Told): boolean {
  if (machine === null || config.nodeSecret === null || machine.role() !== 'primary') return false
  return performance.now() - machine.heardAt() >= config.takeoverSeconds * 1000
}
