import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'

/** A statement that only reads, for the database in that file. */
export type ReadJob = { file: string; sql: string; values: (string | number | null)[] }

let opened: Database | undefined
let inode: bigint | undefined

export function work({ file, sql, values }: ReadJob): unknown[] {
  const statement = openedAt(file).prepare(sql)
  try {
    return statement.all(...values)
  } finally {
    statement.finalize()
  }
}

/** A machine that follows another puts another file in the place of its database. */
function openedAt(file: string): Database {
  const found = statSync(file, { bigint: true }).ino
  if (opened?.filename === file && inode === found) return opened
  opened?.close()
  opened = new Database(file, { readonly: true })
  inode = found
  opened.run('PRAGMA busy_timeout = 30000')
  opened.run('PRAGMA temp_store = MEMORY')
  return opened
}
