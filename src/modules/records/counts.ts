import type { Db } from '../../db/open.ts'
import { cachedText } from './cached-text.ts'
import { readCount } from './reads.ts'
import type { Where } from './where.ts'

/** How many records match. Counting reads all of them, so the number is cached until one is written. */
export async function countKept(db: Db, schemaId: string, where: Where): Promise<number> {
  const name = `count ${where.sql} ${JSON.stringify(where.values)}`
  return Number(
    await cachedText(db, schemaId, name, async () => String(await readCount(db, schemaId, where))),
  )
}
