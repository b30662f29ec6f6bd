import { Database } from 'bun:sqlite'

/** A statement that only reads, for the database in that file. */
export type ReadJob = { file: string; sql: string; values: (string | number | null)[] }

let opened: Database | undefined

export function work({ file, sql, values }: ReadJob): unknown[] {
  if (opened?.filename !== file) {
    opened?.close()
    opened = new Database(file, { readonly: true })
    opened.run('PRAGMA busy_timeout = 30000')
    opened.run('PRAGMA temp_store = MEMORY')
  }
  const statement = opened.prepare(sql)
  try {
    return statement.all(...values)
  } finally {
    statement.finalize()
  }
}
