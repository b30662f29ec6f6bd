import { brotliDecompressSync, constants } from 'node:zlib'

/** What is decoded at most, in bytes: brotli has no magic number, and a few bytes may stand for gigabytes. */
export const LOOKED_AT_BYTES = 256 * 1024
const MAX_DECODED_BYTES = 1024 * 1024

/**
 * Whether the bytes are a brotli stream (RFC 7932), by decoding them up to 1 MiB. `isWhole`: the stream must end with
 * the bytes; else they are its beginning.
 */
export function isBrotliStream(bytes: Uint8Array, isWhole: boolean): boolean {
  const finishFlush = isWhole ? constants.BROTLI_OPERATION_FINISH : constants.BROTLI_OPERATION_FLUSH
  try {
    const options = { finishFlush, maxOutputLength: MAX_DECODED_BYTES, info: true }
    // With `info` it returns the decoder too, which stops where the stream ends.
    const { engine } = brotliDecompressSync(bytes, options) as unknown as { engine: { bytesWritten: number } }
    return engine.bytesWritten === bytes.length
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
  }
}
