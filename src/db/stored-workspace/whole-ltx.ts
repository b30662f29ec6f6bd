import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { DurableFile } from '../../platform/durable-file.ts'
import { LtxEncoder } from '../../platform/ltx/encode.ts'
import { lockPage } from '../../platform/ltx/format.ts'
import { makeFolder } from '../../platform/owner.ts'
import { pageSizeOf } from '../replication/file-header.ts'

/** Writes a database file that has no log and nobody uses as the first object of a store's log. */
export async function writeWholeLtx(database: string, path: string, timestamp: number): Promise<void> {
  makeFolder(dirname(path))
  const fd = openSync(database, 'r')
  const out = new DurableFile(path)
  try {
    const pageSize = pageSizeOf(fd)
    if (pageSize === null) throw new Error(`${database} is no database`)
    const commit = fstatSync(fd).size / pageSize
    const encoder = new LtxEncoder({ pageSize, commit, first: 1, last: 1, timestamp })
    await out.append(encoder.begin())
    const data = new Uint8Array(pageSize)
    for (let number = 1; number <= commit; number += 1) {
      if (number === lockPage(pageSize)) continue
      readSync(fd, data, 0, pageSize, (number - 1) * pageSize)
      await out.append(encoder.page({ number, data }))
    }
    for (const piece of encoder.end()) await out.append(piece)
    await out.finish({ durable: false })
  } catch (error) {
    await out.remove()
    throw error
  } finally {
    closeSync(fd)
  }
}
