import { type Db, type DbOrTx, inTransaction, isOutcomeUnknown } from '../../db/open.ts'
import type { BlobStage } from '../../platform/blob-store.ts'

/**
 * Commits the rows of what a sealed stage brought, and ends the stage. When the disk fails in the commit, nobody knows
 * whether the rows are on it: a crash may bring them back, an alias that names them too. So their contents stay as
 * well; those without rows go with the sweep of the next start. After any other failure the stage is the caller's to discard.
 */
export function commitStaged<T>(
  db: Db,
  stage: BlobStage,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): T {
  try {
    const result = inTransaction(db, work)
    stage.release()
    return result
  } catch (error) {
    if (isOutcomeUnknown(error)) stage.release()
    throw error
  }
}
