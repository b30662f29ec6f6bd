import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { ContentCoding } from '../domain/content-encoding.ts'

/** Some bytes, and the encodings and levels to compress them with. */
export type CompressJob = { bytes: Uint8Array; codings: readonly Coding[] }
type Coding = { encoding: ContentCoding; level: number }

export const work = ({ bytes, codings }: CompressJob): Uint8Array[] =>
  codings.map((coding) => new Uint8Array(compressed(bytes, coding)))

function compressed(bytes: Uint8Array, { encoding, level }: Coding): Uint8Array {
  if (encoding === 'gzip') return gzipSync(bytes, { level })
  if (encoding === 'zstd') return Bun.zstdCompressSync(bytes, { level })
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
  const params = { [BROTLI_PARAM_QUALITY]: level, [BROTLI_PARAM_SIZE_HINT]: bytes.length }
  return brotliCompressSync(bytes, { params })
}
