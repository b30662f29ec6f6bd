import { type Db, type DbOrTx, inTransaction, isOutcomeUnknown } from '../../db/open.ts'
import type { BlobStage } from '../../platform/blob-store.ts'

/**
 * Commits the rows of a sealed stage and closes the stage. If the disk fails during the commit, the rows may or may not
 * be stored, and a crash may bring them back together with an alias that names them. So their contents stay too; those
 * without rows are removed by the sweep of the next start. After any other failure the caller discards the stage.
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
