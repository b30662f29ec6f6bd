import type { Database } from 'bun:sqlite'
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { CheckpointState } from './checkpoint-program.ts'

/**
 * Copies the log into the file of the database, on this thread: the log then begins anew and takes no more space. Does
 * nothing if the file would grow by more than half of what is free. Whether the log begins anew. Never throws.
 */
export function emptyLog(sqlite: Database): boolean {
  try {
    if (growthBytes(sqlite) > freeBytes(sqlite) / 2) return false
    const state = sqlite.query<CheckpointState, []>('PRAGMA wal_checkpoint(PASSIVE)').get()
    return state !== null && state.log > 0 && state.log === state.checkpointed
  } catch {
    return false
  }
}

/** What is in the log, but beyond the end of the file. */
function growthBytes(sqlite: Database): number {
  const numberOf = (pragma: string) => Number(sqlite.query(`PRAGMA ${pragma}`).values()[0]?.[0])
  return numberOf('page_count') * numberOf('page_size') - statSync(sqlite.filename).size
}

function freeBytes(sqlite: Database): number {
  const { bavail, bsize } = statfsSync(dirname(sqlite.filename))
  return bavail * bsize
}
