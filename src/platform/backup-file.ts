import { lstat, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BACKUP_FORMAT, type BackupTarget } from './backup.ts'
import { isPlaceOfServer } from './backup-names.ts'
import type { ByteStream } from './byte-stream.ts'
import { syncFolder } from './durable-file.ts'
import { handOver } from './owner.ts'

/** A backup as a file, which appears when it is complete and durable. `id` is part of the name that it has until then. */
export function fileTarget(dataDir: string, file: string, id: string): BackupTarget {
  return {
    refuseToReplace: () => refuseToReplace(dataDir, file),
    write: (bytes) => write(file, `${file}.${id}.partial`, bytes),
  }
}

/** A mistyped name must not destroy a file: only an earlier backup or an empty file may be replaced. */
async function refuseToReplace(dataDir: string, file: string): Promise<void> {
  if (isPlaceOfServer(dataDir, file))
    throw new Error(`${file} is a place that the server uses itself; choose another`)
  const found = await lstat(file).catch(() => undefined)
  if (found === undefined || (found.isFile() && found.size === 0)) return
  const start = found.isFile() ? await Bun.file(file).slice(0, BACKUP_FORMAT.name.length).text() : ''
  if (start !== BACKUP_FORMAT.name) throw new Error(`${file} already exists and is not a backup`)
}

async function write(file: string, partial: string, bytes: ByteStream): Promise<void> {
  try {
    const out = await open(partial, 'wx', 0o600)
    handOver(partial)
    try {
      for await (const chunk of bytes) await out.writeFile(chunk)
      await out.sync()
    } finally {
      await out.close()
    }
    await rename(partial, file)
    await syncFolder(dirname(file))
  } finally {
    await rm(partial, { force: true })
  }
}
