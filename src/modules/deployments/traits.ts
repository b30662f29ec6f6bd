import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { prepared } from '../../db/statements.ts'
import {
  HEAD_BYTES,
  TAIL_BYTES,
  type Traits,
  traitsOf,
  traitsOfEnds,
  UNKNOWN_TRAITS,
  WHOLE_BYTES,
} from '../../domain/content-traits.ts'
import {
  isCompressedSize,
  isTypedByBytes,
  isWorthCompressing,
  mimeTypeOf,
} from '../../domain/content-type.ts'
import { ContentMiss, type StoredBlob } from '../../platform/blob-store.ts'
import { isBrotliStream, LOOKED_AT_BYTES } from '../../platform/brotli.ts'

/** A stored content with what is known of its bytes; null where nobody has looked yet. */
export type KnownBlob = StoredBlob & { traits: Traits | null; isBrotli: 0 | 1 | null }

/**
 * The traits of a content: as stored, else found out now and stored, as for contents from before traits were kept.
 * `UNKNOWN_TRAITS` if its bytes cannot be read.
 */
export function traitsOfBlob(ctx: Context, blob: Omit<KnownBlob, 'isBrotli'>): Traits {
  if (blob.traits !== null) return blob.traits
  const found = whileReading(ctx, blob, () => readTraits(ctx, blob))
  if (found !== undefined) keep(ctx, blob, 'UPDATE blobs SET traits = ?2 WHERE sha256 = ?1', found)
  return found ?? UNKNOWN_TRAITS
}

/** Whether a content is brotli, likewise: asked only for files whose name says so. */
export function isBrotliBlob(ctx: Context, blob: KnownBlob): boolean {
  if (blob.isBrotli !== null) return blob.isBrotli === 1
  const end = Math.min(blob.sizeBytes, LOOKED_AT_BYTES)
  const found = whileReading(ctx, blob, () =>
    isBrotliStream(readPart(ctx, blob, 0, end), end === blob.sizeBytes),
  )
  if (found !== undefined) keep(ctx, blob, 'UPDATE blobs SET is_brotli = ?2 WHERE sha256 = ?1', found ? 1 : 0)
  return found ?? false
}

/** Whether a file is sent in compressed forms, once its project has them: by its own type and size. contract 15.8. */
export function isSentCompressed(ctx: Context, path: string, blob: Omit<KnownBlob, 'isBrotli'>): boolean {
  if (!isCompressedSize(blob.sizeBytes)) return false
  return isWorthCompressing(path, isTypedByBytes(path) ? traitsOfBlob(ctx, blob) : UNKNOWN_TRAITS)
}

/**
 * The media type of a published file. The same whoever else has its content, so it may be found out now; by its name alone
 * while that has to be fetched.
 */
export function typeOfFile(ctx: Context, { path, sha256 }: { path: string; sha256: string }): string {
  const blob = isTypedByBytes(path) ? findKnown(ctx.db, sha256) : null
  if (blob === null) return mimeTypeOf(path)
  try {
    return mimeTypeOf(path, traitsOfBlob(ctx, blob))
  } catch (error) {
    if (!(error instanceof ContentMiss)) throw error
    ctx.blobs.fetch(error).catch(() => {})
    return mimeTypeOf(path)
  }
}

function readTraits(ctx: Context, blob: StoredBlob): Traits {
  const { sizeBytes } = blob
  if (sizeBytes <= WHOLE_BYTES) return traitsOf(ctx.blobs.readSync(blob))
  const tail = readPart(ctx, blob, sizeBytes - TAIL_BYTES, sizeBytes)
  return traitsOfEnds(readPart(ctx, blob, 0, HEAD_BYTES), tail)
}

const readPart = (ctx: Context, blob: StoredBlob, start: number, end: number): Uint8Array =>
  ctx.blobs.readPartSync(blob, start, end)

function whileReading<T>(ctx: Context, { sha256 }: StoredBlob, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ContentMiss) throw error
    ctx.log.error('a stored content could not be read', { sha256, error })
    return undefined
  }
}

/** Not worth a wait or an error: what was not stored is found out again. */
function keep(ctx: Context, { sha256 }: StoredBlob, sql: string, found: number): void {
  try {
    inRelaxedTransaction(ctx.db, () => {
      prepared(ctx.db, sql).run(sha256, found)
    })
  } catch (error) {
    ctx.log.error('what the bytes of a content say could not be stored', { sha256, error })
  }
}

const findKnown = (db: Db, sha256: string): KnownBlob | null =>
  prepared<KnownBlob>(
    db,
    'SELECT sha256, size_bytes AS sizeBytes, pack, offset, object, traits, is_brotli AS isBrotli FROM blobs WHERE sha256 = ?',
  ).get(sha256)
