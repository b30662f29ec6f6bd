import { AppError } from './errors.ts'

/** The refusals of a workspace that lives in an object store. contract 18 §4, §6. */

/** Nothing may be written now. `mayHaveHappened`: the change waited for the store and may still get there. */
export const storeUnreachable = (mayHaveHappened: boolean): AppError =>
  new AppError(
    'unavailable',
    mayHaveHappened
      ? 'The object store does not answer, so this change is not confirmed. It may still have happened: look before you try again.'
      : 'The object store does not answer, so nothing can be changed now. Nothing of this was done: try again in a few seconds.',
    { code: 'STORE_UNREACHABLE', headers: { 'retry-after': '5' } },
  )

/** Another machine has taken over. Whatever waited here is not kept. */
export const notPrimary = (): AppError =>
  new AppError(
    'unavailable',
    'Another machine is the primary of this workspace now, so nothing can be changed here: try again.',
    { code: 'NOT_PRIMARY', headers: { 'retry-after': '1' } },
  )

/** The machine that decides this cannot be reached. `mayHaveHappened`: it may have got the change before. */
export const primaryUnreachable = (mayHaveHappened: boolean): AppError =>
  new AppError(
    'unavailable',
    mayHaveHappened
      ? 'The primary of this workspace does not answer. This may still have happened: look before you try again.'
      : 'The primary of this workspace does not answer now: try again in a few seconds.',
    { code: 'PRIMARY_UNREACHABLE', headers: { 'retry-after': '2' } },
  )

/** What is shown here may be too old. */
export const tooStale = (): AppError =>
  new AppError(
    'unavailable',
    'This machine has not heard from the object store for longer than it may show what it has: try again in a few seconds.',
    { code: 'STORE_UNREACHABLE', headers: { 'retry-after': '5' } },
  )
