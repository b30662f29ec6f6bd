import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
} from 'node:zlib'
import type { ContentCoding } from '../../domain/content-encoding.ts'
import { AppError } from '../../domain/errors.ts'
import type { AddedBlob, BlobStage } from '../../platform/blob-store.ts'
import type { ByteStream } from '../../platform/byte-stream.ts'

/** Brotli at its best takes 1.3 s a MiB: worth it for what most pages are made of. */
const BEST_UP_TO = 256 * 1024
/** A variant must save a twentieth: less is not worth a content and a `Vary`. */
const WORTH = 0.95

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** Adds the compressed form of a small content to the stage; undefined when it saves too little. Runs off the main thread. */
export async function addVariant(
  stage: BlobStage,
  encoding: ContentCoding,
  bytes: Uint8Array,
): Promise<AddedBlob | undefined> {
  const compressed = await compress(encoding, bytes)
  return compressed.length > mostBytes(bytes.length) ? undefined : stage.add(compressed)
}

/** The same for a large content, in flat memory. */
export async function addVariantOfStream(
  stage: BlobStage,
  encoding: ContentCoding,
  body: ByteStream,
  sizeBytes: number,
): Promise<AddedBlob | undefined> {
  const compressor = createCompressor(encoding)
  let failure: unknown
  pipeline(Readable.from(body), compressor, (error) => {
    failure = error
  })
  try {
    return await stage.add(compressor, mostBytes(sizeBytes))
  } catch (error) {
    if (error instanceof AppError && error.kind === 'too_large') return undefined
    throw failure ?? error
  }
}

const mostBytes = (sizeBytes: number): number => Math.floor(sizeBytes * WORTH)

async function compress(encoding: ContentCoding, bytes: Uint8Array): Promise<Uint8Array> {
  const isSmall = bytes.length <= BEST_UP_TO
  if (encoding === 'gzip') return gzipped(bytes, { level: 9 })
  if (encoding === 'zstd') return Bun.zstdCompress(bytes, { level: isSmall ? 19 : 12 })
  return brotli(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: isSmall ? 11 : 9,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
}

function createCompressor(encoding: ContentCoding) {
  const chunkSize = 64 * 1024
  if (encoding === 'gzip') return createGzip({ chunkSize, level: 6 })
  if (encoding === 'zstd')
    return createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 9 } })
  return createBrotliCompress({ chunkSize, params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
}
