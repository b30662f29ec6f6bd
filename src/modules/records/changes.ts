import { writesOfOthers } from '../../db/generation.ts'
import type { Db } from '../../db/open.ts'

const counts = new WeakMap<Db, Map<string, number>>()

/**
 * Must be called by each function that writes records of a schema, in its transaction: what was read of them before is
 * outdated. A trigger on `records`, as in decision 4, would make each insert 2 µs slower.
 */
export function noteChange(db: Db, schemaId: string): void {
  let ofDb = counts.get(db)
  if (ofDb === undefined) {
    ofDb = new Map()
    counts.set(db, ofDb)
  }
  ofDb.set(schemaId, (ofDb.get(schemaId) ?? 0) + 1)
}

/** Increases whenever the records of the schema may have changed, by this process or another. */
export const changesOf = (db: Db, schemaId: string): number =>
  (counts.get(db)?.get(schemaId) ?? 0) + writesOfOthers(db)
