import { isRefusedBy } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'

/** Throws 400 when no administrator would be left who can sign in. A trigger on the table decides, so there is no race. */
export function keepLastAdmin(what: 'demoted' | 'deleted' | 'suspended', write: () => void): void {
  try {
    write()
  } catch (error) {
    if (isRefusedBy(error, 'last admin'))
      throw new AppError('invalid', `The last administrator cannot be ${what}: make another one first`)
    throw error
  }
}
