import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY_MS } from '../../domain/durations.ts'
import { isRecent } from '../../domain/recent.ts'

export const LEFT_AFTER_MS = DAY_MS

/** Removes what killed backups left in the data directory: database copy and marker. */
export async function removeLocalLeftovers(dataDir: string, now: number): Promise<void> {
  await removeOld(join(dataDir, 'tmp'), /^backup-.+\.db(-journal)?$/, now)
  await removeOld(dataDir, /^backup-running/, now)
}

/** What a server that was killed had begun to make, to be fetched: nobody waits for it any more. */
export async function removeDownloads(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'tmp')
  for (const name of await readdir(folder).catch(() => []))
    if (/^download-.+\.backup/.test(name)) await rm(join(folder, name), { force: true })
}

/** The folder may be missing. */
export async function removeOld(folder: string, pattern: RegExp, now: number): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!pattern.test(name)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined && !isRecent(found.mtimeMs, now, LEFT_AFTER_MS)) await rm(path, { force: true })
  }
}
