import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS } from '../../domain/durations.ts'
import { isAhead, isRecent } from '../../domain/recent.ts'

/** A backup in the folder. `createdAt` is part of its name, so that copying keeps it. */
export type BackupFile = { name: string; sizeBytes: number; createdAt: number }

const NAME = /^svc-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.tar$/
const LEFT_AFTER_MS = DAY_MS

/** `svc-2026-11-20T12-00-00Z.tar`: the order of names is the order of time. */
export const backupName = (at: number): string =>
  `svc-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z.tar`

/**
 * Newest first. Backups named by a clock that was days ahead come last: none of them is newer than one made now. Other
 * files in the folder are ignored.
 */
export async function listBackupFiles(folder: string, now: number): Promise<BackupFile[]> {
  const files: BackupFile[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    const [, date, hour, minute, second] = NAME.exec(name) ?? []
    if (date === undefined) continue
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found?.isFile() === true)
      files.push({
        name,
        sizeBytes: found.size,
        createdAt: Date.parse(`${date}T${hour}:${minute}:${second}Z`),
      })
  }
  const rank = ({ createdAt }: BackupFile) => Number(isAhead(createdAt, now))
  return files.sort((a, b) => rank(a) - rank(b) || b.createdAt - a.createdAt)
}

/** Removes our backups except the newest `keep`. */
export async function removeOldBackups(folder: string, keep: number, now: number): Promise<void> {
  const old = (await listBackupFiles(folder, now)).slice(keep)
  for (const { name } of old) await rm(join(folder, name), { force: true })
}

/** Removes leftovers of killed backups: partial file, database copy and marker. `folder` may be missing. */
export async function removeLeftovers(folder: string | null, dataDir: string, now: number): Promise<void> {
  const left = async (where: string, pattern: RegExp): Promise<void> => {
    for (const name of await readdir(where).catch(() => [])) {
      if (!pattern.test(name)) continue
      const path = join(where, name)
      const found = await stat(path).catch(() => undefined)
      if (found !== undefined && !isRecent(found.mtimeMs, now, LEFT_AFTER_MS)) await rm(path, { force: true })
    }
  }
  if (folder !== null) await left(folder, /^svc-[\dTZ-]+\.tar\..+\.partial$/)
  await left(join(dataDir, 'tmp'), /^backup-.+\.db(-journal)?$/)
  await left(dataDir, /^backup-running/)
}
