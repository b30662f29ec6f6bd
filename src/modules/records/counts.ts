import type { Db } from '../../db/open.ts'
import { cachedText } from './cached-text.ts'
import { countRecords } from './queries.ts'
import type { Sql } from './where.ts'

/** How many records match. Counting reads all of them, so the number is kept until something is written. */
export function countKept(db: Db, schemaId: string, where: Sql): number {
  const key = `count ${where.sql} ${JSON.stringify([schemaId, ...where.values])}`
  return Number(cachedText(db, key, () => String(countRecords(db, schemaId, where))))
}
