import { ftruncateSync, writeSync } from 'node:fs'
import { LtxDecoder } from './decode.ts'
import type { LtxHeader } from './format.ts'

/**
 * Puts the pages of a transaction file into a database file that nobody reads meanwhile, and cuts it to its size. Throws
 * `LtxError` for a file that is damaged, which is known for sure only at its end: the database is of no use then.
 */
export async function applyLtx(file: AsyncIterable<Uint8Array>, database: number): Promise<LtxHeader> {
  let pageSize = 0
  const decoder = new LtxDecoder({
    header: (header) => {
      pageSize = header.pageSize
    },
    page: ({ number, data }) => {
      writeSync(database, data, 0, data.length, (number - 1) * pageSize)
    },
  })
  for await (const piece of file) decoder.push(piece)
  const header = decoder.end()
  ftruncateSync(database, header.commit * pageSize)
  return header
}
