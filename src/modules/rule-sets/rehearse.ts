import { type Db, type DbOrTx, inTransaction } from '../../db/open.ts'

/** Thrown to roll a dry run back. */
class Rehearsed extends Error {}

/** Like `inTransaction`. A dry run changes nothing, and returns what `work` returned all the same. */
export function inRehearsal<T>(
  db: Db,
  isDryRun: boolean,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): T {
  let done: { answer: T } | undefined
  try {
    return inTransaction<T>(db, (tx) => {
      const answer = work(tx)
      done = { answer }
      if (isDryRun) throw new Rehearsed('dry run')
      return answer
    })
  } catch (error) {
    if (error instanceof Rehearsed && done !== undefined) return done.answer
    throw error
  }
}
