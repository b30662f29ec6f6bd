import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type TarSource, type TarSpecial, tarEntries } from '../../src/platform/archive/tar-write.ts'
import { sizeOf } from './tree.ts'

/** Good enough: level 9 needs half as long again and saves 0.3 % of an executable. */
const GZIP_LEVEL = 6

/** Writes `sources` as a .tar.gz whose bytes depend on nothing else. */
export async function writeTarGz(file: string, sources: readonly TarSource[]): Promise<void> {
  const packed = Readable.from(tarEntries(sources), { objectMode: false })
  await pipeline(packed, createGzip({ level: GZIP_LEVEL }), createWriteStream(file))
}

export function textSource(name: string, text: string, special?: TarSpecial): TarSource {
  const body = Buffer.from(text)
  return { name, sizeBytes: body.length, body, ...(special === undefined ? {} : { special }) }
}

/** A file of the disk, read while it is packed. */
export const fileSource = (name: string, file: string, special?: TarSpecial): TarSource => ({
  name,
  sizeBytes: sizeOf(file),
  body: piecesOf(file),
  ...(special === undefined ? {} : { special }),
})

/** Opened when it is read, and not before. */
async function* piecesOf(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file)
}
