import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../domain/is-record.ts'
import { handOver } from './owner.ts'

/** What made a backup: the server by itself, a person on the page or by downloading it, or `svc backup`. */
export const BACKUP_WAYS = ['schedule', 'page', 'download', 'command'] as const
export type BackupWay = (typeof BACKUP_WAYS)[number]

/** `by`: the email of the person. */
export type LastBackup = { at: number; how: BackupWay; by: string | null }

/** In the data directory, so that every process can say it. No backup includes it. */
const NAME = 'last-backup.json'

/** Null if there was none, or nobody can tell. */
export function readLastBackup(dataDir: string): LastBackup | null {
  try {
    const found: unknown = JSON.parse(readFileSync(join(dataDir, NAME), 'utf8'))
    return isLastBackup(found) ? found : null
  } catch {
    return null
  }
}

/** Losing it costs a line on a page, so it never fails a backup that is whole. */
export function writeLastBackup(dataDir: string, last: LastBackup): void {
  const path = join(dataDir, NAME)
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, JSON.stringify(last), { mode: 0o600 })
    handOver(draft)
    renameSync(draft, path)
  } catch {
    // A full disk, for example.
  }
}

const isLastBackup = (value: unknown): value is LastBackup =>
  isRecord(value) &&
  typeof value['at'] === 'number' &&
  BACKUP_WAYS.some((way) => way === value['how']) &&
  (value['by'] === null || typeof value['by'] === 'string')
