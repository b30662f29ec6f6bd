import { Readable, type Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AppError } from '../../domain/errors.ts'
import { type ByteStream, tooLarge } from '../byte-stream.ts'

/**
 * Decompresses gzip data, of one member or several, as it arrives. Data that is truncated, damaged or followed by other
 * bytes is `invalid`. `maxBytes` limits the output during decompression, so a bomb takes no more memory than a file.
 */
export async function* gunzip(bytes: ByteStream, maxBytes: number): AsyncGenerator<Uint8Array> {
  const unpacker = createGunzip({ chunkSize: 64 * 1024 })
  const damaged = (cause: unknown) =>
    new AppError('invalid', 'The gzip data is damaged, cut off or followed by other data', { cause })
  let total = 0
  for await (const chunk of throughZlib(bytes, unpacker, damaged)) {
    total += chunk.length
    if (total > maxBytes) throw tooLarge('The unpacked archive', maxBytes)
    yield chunk
  }
}

/**
 * Pipes bytes through a node:zlib decompressor, no faster than they are read. `damaged` makes the error for bad data.
 */
export async function* throughZlib(
  bytes: ByteStream,
  unpacker: Transform,
  damaged: (cause: unknown) => AppError,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: false, highWaterMark: 64 * 1024 })
  source.on('error', (error) => unpacker.destroy(error))
  source.pipe(unpacker)
  try {
    for await (const chunk of unpacker) yield chunk
  } catch (error) {
    throw isZlibError(error) ? damaged(error) : error
  } finally {
    source.destroy()
    unpacker.destroy()
  }
}

/** Error codes of zlib begin with `Z_`. */
function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
