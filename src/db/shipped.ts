import type { AppError } from '../domain/errors.ts'
import type { Db } from './open.ts'

type Source = { config: { storeUrl: unknown }; db: Db }

const AT_ONCE = Promise.resolve()

/**
 * Resolves when what is committed now is in the object store, which is when others may be told of it; at once where there is
 * none. Rejects as `LogSync.sync`. contract 18 §4.
 */
export const shipped = ({ config, db }: Source): Promise<void> =>
  config.storeUrl === null ? AT_ONCE : db.log.sync()

/** Why the object store lets nothing be written now; null without one. */
export const storeRefusal = ({ config, db }: Source): AppError | null =>
  config.storeUrl === null ? null : db.log.refusal()
