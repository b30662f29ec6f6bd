import type { Database } from 'bun:sqlite'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DurableFile, syncFolder } from '../../platform/durable-file.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { makeFolder } from '../../platform/owner.ts'
import { readAhead } from '../../platform/read-ahead.ts'
import { withObject } from '../replication/fetch-log.ts'
import { damaged, LogError } from '../replication/log-error.ts'
import { type ContentObject, listContents } from './contents.ts'
import { PartsCheck } from './parts-check.ts'

const AT_ONCE = 4

type Target = {
  /** The folder `blobs` of a data directory. */
  blobs: string
  /** Paths in it that are whole already; what is fetched is added. */
  done: Set<string>
  stop: AbortSignal
}

/** Fetches all contents of a database, each compared with its SHA-256. Throws `LogError` for one that is missing or another. */
export async function fetchContents(store: ObjectStore, sqlite: Database, target: Target): Promise<void> {
  const limits = { atOnce: AT_ONCE, weight: AT_ONCE, weigh: () => 1 }
  const folders = new Set<string>()
  const fetched = readAhead(listContents(sqlite), limits, async (object) => {
    target.stop.throwIfAborted()
    if (target.done.has(object.path)) return
    const path = join(target.blobs, object.path)
    makeFolder(dirname(path))
    folders.add(dirname(path))
    await fetchOne(store, object, path)
    target.done.add(object.path)
  })
  for await (const _ of fetched);
  for (const folder of folders) await syncFolder(folder)
}

async function fetchOne(store: ObjectStore, object: ContentObject, path: string): Promise<void> {
  const { key } = object
  if (key === null)
    throw new LogError('damaged', `the content ${object.parts[0]?.sha256} is in no object of the store`)
  await withObject(store, { key }, async (pieces) => {
    await rm(path, { force: true })
    const file = new DurableFile(path)
    try {
      const check = new PartsCheck(object)
      for await (const piece of pieces) {
        check.push(piece)
        await file.append(piece)
      }
      const [wrong] = check.end()
      if (wrong !== undefined) throw damaged(key, `the content ${wrong.sha256} in it is another`)
      await file.finish({ durable: true })
    } catch (error) {
      await file.remove()
      throw error
    }
  })
}
