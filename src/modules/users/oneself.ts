import { AppError } from '../../domain/errors.ts'
import type { Grant } from '../auth/authorize.ts'

/** Throws 400 when somebody would do to themselves what only others can undo. */
export function refuseOneself({ actor }: Grant, id: string, what: string): void {
  if ('user' in actor && actor.user.id === id)
    throw new AppError('invalid', `You cannot ${what}: ask another administrator`)
}
