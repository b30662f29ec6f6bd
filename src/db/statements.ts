import type { Statement } from 'bun:sqlite'
import type { Db } from './open.ts'

type Bound = string | number | null

const kept = new WeakMap<Db, Map<string, Statement<unknown, Bound[]>>>()
const MAX_STATEMENTS = 500

/** A prepared statement, cached with the database: `Database.query` caches only the first 20 of a process. */
export function prepared<Row>(db: Db, sql: string): Statement<Row, Bound[]> {
  let statements = kept.get(db)
  if (statements === undefined) {
    statements = new Map()
    kept.set(db, statements)
  }
  const known = statements.get(sql)
  if (known !== undefined) return known as Statement<Row, Bound[]>
  if (statements.size >= MAX_STATEMENTS) {
    for (const statement of statements.values()) statement.finalize()
    statements.clear()
  }
  const made = db.sqlite.prepare<Row, Bound[]>(sql)
  statements.set(sql, made as Statement<unknown, Bound[]>)
  return made
}
