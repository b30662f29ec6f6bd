import type { Db } from '../../db/open.ts'
import { changesOf } from './changes.ts'

/**
 * `changes`: of the records of its schema, at the time when loading began. `next`: the load for those who asked after a
 * write, when this one was still under way.
 */
type Entry = { changes: number; text: string | Promise<string>; size: number; next?: Promise<string> }
type Kept = { size: number; entries: Map<string, Entry> }
const keptOf = new WeakMap<Db, Kept>()

/** The most characters that are cached, of one text and of all together. */
const MAX_CHARACTERS_OF_ONE = 256 * 1024
const MAX_CHARACTERS = 4 * 1024 * 1024

/**
 * The result of `load`, cached until records of the schema are written. Those who ask while it is being loaded share
 * it; if something was written since, they share the next load, so that of one question no more than one load is ever
 * under way. Inside a transaction nothing is cached, because it may be rolled back.
 */
export function cachedText(
  db: Db,
  schemaId: string,
  name: string,
  load: () => string | Promise<string>,
): string | Promise<string> {
  if (db.sqlite.inTransaction) return load()
  const kept = keptIn(db)
  const key = `${schemaId} ${name}`
  const changes = changesOf(db, schemaId)
  const known = kept.entries.get(key)
  if (known?.changes === changes) return known.text
  if (known?.text instanceof Promise) {
    const again = () => cachedText(db, schemaId, name, load)
    known.next ??= known.text.then(again, again)
    return known.next
  }
  const text = load()
  const entry = { changes, text, size: 0 }
  put(kept, key, entry)
  if (typeof text === 'string') return settle(kept, key, entry, text)
  return text.then(
    (loaded) => settle(kept, key, entry, loaded),
    (error: unknown) => {
      drop(kept, key, entry)
      throw error
    },
  )
}

function keptIn(db: Db): Kept {
  const known = keptOf.get(db)
  if (known !== undefined) return known
  const kept: Kept = { size: 0, entries: new Map() }
  keptOf.set(db, kept)
  return kept
}

function put(kept: Kept, key: string, entry: Entry): void {
  drop(kept, key, kept.entries.get(key))
  entry.size = key.length
  kept.size += entry.size
  kept.entries.set(key, entry)
}

function drop(kept: Kept, key: string, entry: Entry | undefined): void {
  if (entry === undefined || kept.entries.get(key) !== entry) return
  kept.entries.delete(key)
  kept.size -= entry.size
}

/** Keeps the text in place of its promise, unless it is too large or the entry was replaced meanwhile. */
function settle(kept: Kept, key: string, entry: Entry, text: string): string {
  if (kept.entries.get(key) !== entry) return text
  drop(kept, key, entry)
  const size = key.length + text.length
  if (size > MAX_CHARACTERS_OF_ONE) return text
  if (kept.size + size > MAX_CHARACTERS) {
    kept.entries.clear()
    kept.size = 0
  }
  kept.entries.set(key, { changes: entry.changes, text, size })
  kept.size += size
  return text
}
