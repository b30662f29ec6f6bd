import type { Config } from '../../config/config.ts'
import { readMarker } from '../../db/replication/marker.ts'
import { PushError, pushWorkspace, removeLocalContents } from '../../db/stored-workspace/push.ts'
import { lockDataDir } from '../../platform/instance-lock.ts'
import type { StoreFile } from '../../platform/object-store/store-file.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { CommandFailure, EXIT, type Io, printable } from '../command.ts'
import { enterOwn, requireDatabase } from '../operator.ts'
import { untilSignalled } from '../until-signalled.ts'
import { requireWhole } from './check.ts'
import { onStoreOfSvc } from './open.ts'

export async function push(config: Config, removesLocal: boolean, io: Io): Promise<number> {
  requireDatabase(config)
  enterOwn(config)
  const lock = lockDataDir(config.dataDir)
  if (lock === undefined)
    throw new CommandFailure(
      `a server is running on ${config.dataDir}: stop it first, so that nothing changes meanwhile`,
    )
  try {
    return await onStoreOfSvc(config, (store, file) => pushAlone(store, file, config, { removesLocal, io }))
  } finally {
    lock.release()
  }
}

async function pushAlone(
  store: ObjectStore,
  file: StoreFile,
  { dataDir }: Config,
  { removesLocal, io }: { removesLocal: boolean; io: Io },
): Promise<number> {
  const marker = readMarker(dataDir)
  if (marker !== null && marker.store !== file.id)
    throw new CommandFailure(`${dataDir} is a copy of the store ${marker.store}, not of this one`)
  if (marker === null) await pushFrom(store, file, dataDir, io)
  else if (!removesLocal)
    throw new CommandFailure(`the database of ${dataDir} is in this store already; nothing was changed`)
  if (removesLocal) {
    await requireWhole(store, false, io)
    removeLocalContents(dataDir)
    io.stderr.write(`the store is whole; the local contents in ${dataDir} were removed\n`)
  }
  return EXIT.ok
}

async function pushFrom(store: ObjectStore, file: StoreFile, dataDir: string, io: Io): Promise<void> {
  const { objects, sentBytes, lost } = await untilSignalled(async (stop) => {
    try {
      return await pushWorkspace(store, file, {
        dataDir,
        now: Date.now(),
        newId: () => Bun.randomUUIDv7(),
        stop,
      })
    } catch (error) {
      if (stop.aborted) throw new CommandFailure('it was interrupted: run it again to go on')
      throw error instanceof PushError ? new CommandFailure(error.message) : error
    }
  })
  for (const sha256 of lost)
    io.stderr.write(
      `note: the content ${printable(sha256)} was damaged before and has no file; publish it again\n`,
    )
  io.stderr.write(
    `the store has ${objects} objects of contents (${Math.ceil(sentBytes / 1e6)} MB sent now) and the database\n`,
  )
}
