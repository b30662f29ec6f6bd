import { isAhead } from '../../domain/recent.ts'

/** A backup in the place for backups. `createdAt` is part of its name, so that copying keeps it. */
export type BackupFile = { name: string; sizeBytes: number; createdAt: number }

const NAME = /^svc-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.tar$/

/** `svc-2026-11-20T12-00-00Z.tar`: the order of names is the order of time. */
export const backupName = (at: number): string =>
  `svc-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z.tar`

/** `svc-20261120T120000Z.backup`: as it is saved by whoever fetches it. contract 17.8. */
export const downloadName = (at: number): string =>
  `svc-${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.backup`

/** When a backup of this name was made; undefined for any other name. */
export function timeOfName(name: string): number | undefined {
  const [, date, hour, minute, second] = NAME.exec(name) ?? []
  return date === undefined ? undefined : Date.parse(`${date}T${hour}:${minute}:${second}Z`)
}

/**
 * Newest first. Backups named by a clock that was days ahead come last: none of them is newer than one made now.
 */
export function newestFirst(files: readonly BackupFile[], now: number): BackupFile[] {
  const rank = ({ createdAt }: BackupFile) => Number(isAhead(createdAt, now))
  return [...files].sort((a, b) => rank(a) - rank(b) || b.createdAt - a.createdAt)
}
