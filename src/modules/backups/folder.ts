import { accessSync, constants } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { OpenedFile } from '../../platform/opened-file.ts'
import { makeFolder } from '../../platform/owner.ts'
import { removeOld } from './leftovers.ts'
import { type BackupFile, timeOfName } from './names.ts'
import type { BackupPlace } from './place.ts'

export const folderPlace = (folder: string): BackupPlace => ({
  isLocal: true,
  list: () => filesIn(folder),
  remove: (name) => rm(join(folder, name), { force: true }),
  read: async (name) => (await OpenedFile.open(join(folder, name))).pieces(),
  removeLeftovers: (now) => removeOld(folder, /^svc-[\dTZ-]+\.tar\..+\.partial$/, now),
  prepare() {
    makeFolder(folder)
    accessSync(folder, constants.W_OK | constants.X_OK)
  },
  target: (name) => join(folder, name),
})

async function filesIn(folder: string): Promise<BackupFile[]> {
  const files: BackupFile[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    const createdAt = timeOfName(name)
    if (createdAt === undefined) continue
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found?.isFile() === true) files.push({ name, sizeBytes: found.size, createdAt })
  }
  return files
}
