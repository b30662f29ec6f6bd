import { Readable, type Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AppError } from '../../domain/errors.ts'
import { type ByteStream, tooLarge } from '../byte-stream.ts'

/**
 * Unpacks gzip, of one member or several, while it comes in. What is cut off, damaged or followed by other bytes is
 * `invalid`; `maxBytes` of output is counted while unpacking, so that a bomb takes no more memory than a file.
 */
export async function* gunzip(bytes: ByteStream, maxBytes: number): AsyncGenerator<Uint8Array> {
  const unpacker = createGunzip({ chunkSize: 64 * 1024 })
  const damaged = (cause: unknown) =>
    new AppError('invalid', 'The gzip data is damaged, cut off or followed by something else', { cause })
  let total = 0
  for await (const chunk of throughZlib(bytes, unpacker, damaged)) {
    total += chunk.length
    if (total > maxBytes) throw tooLarge('The unpacked archive', maxBytes)
    yield chunk
  }
}

/** Runs bytes through an unpacker of node:zlib, no faster than they are read. `damaged` words what it cannot unpack. */
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

/** The codes of zlib begin with `Z_`. */
function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
