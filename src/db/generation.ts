import type { Db } from './open.ts'

/**
 * The state of the database that a cached value came from: `sites` for what hosts show, `access` for who may see it.
 */
type Generation = { sites: number; access: number }

type Known = { writes: number; generation: Generation }
const known = new WeakMap<Db, Known>()

/** Reads the row only if something may have been written since; an idle server reads nothing. */
export function currentGeneration(db: Db): Generation {
  const last = known.get(db)
  if (last !== undefined && last.writes === db.writes) return last.generation
  const row = db.sqlite.query<Generation, []>('SELECT sites, access FROM site_generation').get()
  const generation = row ?? { sites: 0, access: 0 }
  const isSame =
    last !== undefined &&
    last.generation.sites === generation.sites &&
    last.generation.access === generation.access
  const kept = isSame ? last.generation : generation
  // Inside a transaction this value may come from its own writes, which a rollback would undo.
  if (!db.sqlite.inTransaction) known.set(db, { writes: db.writes, generation: kept })
  return kept
}

type GenerationCache<V> = {
  /** The cached value, if there is one. */
  peek(db: Db, key: string): V | undefined
  /** Caches what `load` returns until something changes. Undefined is not cached, so it is loaded again. */
  get(db: Db, key: string, load: () => V | undefined): V | undefined
}

/**
 * A map per database, cleared whenever its part of the generation changes. Holds at most `max` entries. Values loaded
 * inside a transaction are not cached, because it may be rolled back.
 */
export function generationCache<V>(part: keyof Generation, max = 10_000): GenerationCache<V> {
  const byDb = new WeakMap<Db, { from: number; entries: Map<string, V> }>()
  const currentEntries = (db: Db): Map<string, V> => {
    const from = currentGeneration(db)[part]
    const kept = byDb.get(db)
    if (kept?.from === from) return kept.entries
    const entries = new Map<string, V>()
    byDb.set(db, { from, entries })
    return entries
  }
  return {
    peek: (db, key) => currentEntries(db).get(key),
    get(db, key, load) {
      const entries = currentEntries(db)
      const cached = entries.get(key)
      if (cached !== undefined) return cached
      const loaded = load()
      if (loaded === undefined || db.sqlite.inTransaction) return loaded
      if (entries.size >= max) entries.clear()
      entries.set(key, loaded)
      return loaded
    },
  }
}

const others = new WeakMap<Db, number>()

/** Increases with each detected write of another process. */
export const writesOfOthers = (db: Db): number => others.get(db) ?? 0

/** What is cached of the database may be stale. */
export function noteWriteOfOthers(db: Db): void {
  db.writes += 1
  others.set(db, writesOfOthers(db) + 1)
}

/** Invalidates the caches when another process wrote (`svc admin` on the same data directory). */
export function watchOtherWriters(db: Db, everyMs = 1000): () => void {
  const version = db.sqlite.query<{ data_version: number }, []>('PRAGMA data_version')
  let last = version.get()?.data_version
  const timer = setInterval(() => {
    const seen = version.get()?.data_version
    if (seen !== last) noteWriteOfOthers(db)
    last = seen
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
