import { pipeline, Readable } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import { CONTENT_CODINGS, type ContentCoding } from '../../../domain/content-encoding.ts'
import { AppError } from '../../../domain/errors.ts'
import type { AddedBlob, BlobStage } from '../../../platform/blob-store.ts'
import type { ByteStream } from '../../../platform/byte-stream.ts'
import { onCompressThread } from '../../../platform/compress-thread.ts'

/** Up to this size compression uses near-best levels; above it they would take too long. */
const BEST_UP_TO = 256 * 1024
/**
 * Not the very best levels, because they cost more than they gain. For files of some 10 KB, brotli 10 gives 4 % larger
 * results than 11 in a third of the time; zstd 9 gives the same size as 19 in a seventh.
 */
const BEST_LEVELS: Readonly<Record<ContentCoding, number>> = { br: 10, zstd: 9, gzip: 9 }
const GOOD_LEVELS: Readonly<Record<ContentCoding, number>> = { br: 9, zstd: 12, gzip: 9 }
/** A variant must save a twentieth: less is not worth another content and a `Vary` header. */
const WORTH = 0.95

export type AddedVariant = AddedBlob & { encoding: ContentCoding }

/** Adds the compressed forms of a small content to the stage, except those that save too little. */
export async function addVariants(stage: BlobStage, bytes: Uint8Array): Promise<AddedVariant[]> {
  const levels = bytes.length <= BEST_UP_TO ? BEST_LEVELS : GOOD_LEVELS
  const codings = CONTENT_CODINGS.map((encoding) => ({ encoding, level: levels[encoding] }))
  const compressed = await onCompressThread({ bytes, codings })
  const added: AddedVariant[] = []
  for (const [place, { encoding }] of codings.entries()) {
    const variant = compressed[place]
    if (variant === undefined || variant.length > maxBytes(bytes.length)) continue
    added.push({ encoding, ...(await stage.add(variant)) })
  }
  return added
}

/** The same for one form of a large content, in constant memory. */
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
    return await stage.add(compressor, maxBytes(sizeBytes))
  } catch (error) {
    if (error instanceof AppError && error.kind === 'too_large') return undefined
    throw failure ?? error
  }
}

const maxBytes = (sizeBytes: number): number => Math.floor(sizeBytes * WORTH)

function createCompressor(encoding: ContentCoding) {
  const chunkSize = 64 * 1024
  if (encoding === 'gzip') return createGzip({ chunkSize, level: 6 })
  if (encoding === 'zstd')
    return createZstdCompress({ chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 9 } })
  return createBrotliCompress({ chunkSize, params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
}
