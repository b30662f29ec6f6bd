import type { Db } from '../../db/open.ts'

type Kept = { writes: number; size: number; texts: Map<string, string> }
const keptOf = new WeakMap<Db, Kept>()

/** Characters of one text, and of all together, that are kept at most. */
const MOST_OF_ONE = 256 * 1024
const MOST = 4 * 1024 * 1024

/** What `load` gives for the key, kept until the database is written to. Not for use inside of a transaction. */
export function cachedText(db: Db, key: string, load: () => string): string {
  let kept = keptOf.get(db)
  if (kept === undefined || kept.writes !== db.writes) {
    kept = { writes: db.writes, size: 0, texts: new Map() }
    keptOf.set(db, kept)
  }
  const known = kept.texts.get(key)
  if (known !== undefined) return known
  const text = load()
  const size = key.length + text.length
  if (size > MOST_OF_ONE) return text
  if (kept.size + size > MOST) {
    kept.texts.clear()
    kept.size = 0
  }
  kept.texts.set(key, text)
  kept.size += size
  return text
}
