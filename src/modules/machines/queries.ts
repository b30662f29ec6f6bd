import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** How often a process became the primary, by the id of its start. */
export const countTakeovers = (db: Db, writer: string): number =>
  prepared<{ n: number }>(db, 'SELECT count(*) AS n FROM machine_epochs WHERE writer = ?').get(writer)?.n ?? 0
