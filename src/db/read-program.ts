import { constants, Database } from 'bun:sqlite'
import { statSync } from 'node:fs'

/** A statement that only reads, for the database in that file, which its inode names. */
export type ReadJob = { path: string; inode: bigint; sql: string; values: (string | number | null)[] }

let kept: { sqlite: Database; inode: bigint } | undefined

export function work({ path, inode, sql, values }: ReadJob): unknown[] {
  const statement = connectionTo(path, inode).prepare(sql)
  try {
    return statement.all(...values)
  } finally {
    statement.finalize()
  }
}

/** A machine that follows another puts another file in the place of its database. */
function connectionTo(path: string, inode: bigint): Database {
  if (kept?.sqlite.filename === path && kept.inode === inode) return kept.sqlite
  kept?.sqlite.close()
  kept = undefined
  // Opening alone touches no log.
  const sqlite = new Database(path, { readonly: true })
  if (!isOf(sqlite, inode)) {
    sqlite.close()
    throw new Error(`${path} is not the database that the server opened`)
  }
  kept = { sqlite, inode }
  sqlite.run('PRAGMA busy_timeout = 30000')
  sqlite.run('PRAGMA temp_store = MEMORY')
  return sqlite
}

/** As `connectAgain` asks. */
function isOf(sqlite: Database, inode: bigint): boolean {
  const hasMoved = new BigInt64Array(1)
  sqlite.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, hasMoved)
  return (
    hasMoved[0] === 0n && statSync(sqlite.filename, { bigint: true, throwIfNoEntry: false })?.ino === inode
  )
}
