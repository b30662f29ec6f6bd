import { constants } from 'node:fs'
import { copyFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../../platform/durable-file.ts'
import { handOver } from '../../platform/owner.ts'
import { isForLog } from './file-header.ts'
import { readMarker, writeMarker } from './marker.ts'

/**
 * Lets those who have a database of the store open keep it, with its log, and puts a copy of the file without the log in its place.
 * The copy holds what the marker says, and `bringUpToDate` goes on from there. Nothing may write the file meanwhile: stop the
 * shipper, or the following, first.
 */
export async function leaveShippedFile(file: string): Promise<void> {
  const dataDir = dirname(file)
  const copy = `${file}-incoming`
  await rm(copy, { force: true })
  await copyFile(file, copy, constants.COPYFILE_FICLONE)
  handOver(copy)
  const marker = readMarker(dataDir)
  if (marker !== null && isForLog(copy)) await writeMarker(dataDir, { ...marker, isWhole: false })
  await rename(copy, file)
  for (const beside of ['-wal', '-shm']) await rm(`${file}${beside}`, { force: true })
  await syncFolder(dataDir)
}
