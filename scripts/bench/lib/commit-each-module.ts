import type { Db } from '../../../src/db/open.ts'

/** In place of `src/db/group-commit.ts`: every work gets a commit of its own. */
export function groupCommit<T>(db: Db, work: (db: Db) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    db.sqlite.run('BEGIN IMMEDIATE')
    try {
      const value = work(db)
      db.sqlite.run('COMMIT')
      resolve(value)
    } catch (error) {
      if (db.sqlite.inTransaction) db.sqlite.run('ROLLBACK')
      reject(error)
    } finally {
      db.writes += 1
    }
  })
}

export function flushGroupCommit(): void {}
