import type { Context } from '../context.ts'
import { streamOf } from '../http/stream-of.ts'
import type { StoredBlob } from '../platform/blob-store.ts'

/** Recently requested content, newest last; larger files are read from the disk each time. */
const MAX_BYTES = 64 * 1024 * 1024
export const LARGEST_KEPT = 2 * 1024 * 1024
/** From this size, a `Blob` is passed to the socket without a copy; below it, plain bytes are faster. */
const BLOB_FROM = 4 * 1024

export type Kept = Uint8Array<ArrayBuffer> | Blob
/** The runtime sends a stream in chunks, without its length. */
type Body = Kept | ReadableStream<Uint8Array>
type Cache = { bodies: Map<string, Kept>; bytes: number; replacements: number }
const caches = new WeakMap<Context, Cache>()

/**
 * The body for a stored file: from memory up to 2 MiB, otherwise streamed from the disk by the runtime, or from the object
 * store as it comes. Throws if content is missing or too short, and `ContentMiss` if it must be fetched first.
 */
export function bodyOf(ctx: Context, blob: StoredBlob): Body {
  return blob.sizeBytes > LARGEST_KEPT ? largeBody(ctx, blob, 0, blob.sizeBytes) : keptBody(ctx, blob)
}

/** Part of a stored file; both ends are inclusive. */
export function rangeOf(ctx: Context, blob: StoredBlob, start: number, end: number): Body {
  return blob.sizeBytes > LARGEST_KEPT
    ? largeBody(ctx, blob, start, end + 1)
    : keptRangeOf(ctx, blob, start, end)
}

/** The same of one that is no larger than `LARGEST_KEPT`. */
export function keptRangeOf(ctx: Context, blob: StoredBlob, start: number, end: number): Kept {
  const body = keptBody(ctx, blob)
  return body instanceof Blob ? body.slice(start, end + 1) : body.subarray(start, end + 1)
}

function keptBody(ctx: Context, blob: StoredBlob): Kept {
  const cache = cacheOf(ctx)
  const known = cache.bodies.get(blob.sha256)
  if (known !== undefined) return known
  const bytes = new Uint8Array(ctx.blobs.readSync(blob))
  const body = bytes.length >= BLOB_FROM ? new Blob([bytes]) : bytes
  cache.bodies.set(blob.sha256, body)
  cache.bytes += blob.sizeBytes
  for (const [sha256, oldest] of cache.bodies) {
    if (cache.bytes <= MAX_BYTES) break
    cache.bodies.delete(sha256)
    cache.bytes -= oldest instanceof Blob ? oldest.size : oldest.length
  }
  return body
}

/** The runtime would send a file that lost bytes as if it were whole. */
function largeBody(ctx: Context, blob: StoredBlob, start: number, end: number): Body {
  const file = ctx.blobs.file(blob)
  if (file === null) {
    if (end - start <= LARGEST_KEPT) return new Uint8Array(ctx.blobs.readPartSync(blob, start, end))
    ctx.blobs.requireStart(blob, start)
    return streamOf(ctx.blobs.stream(blob, start, end))
  }
  if (file.size !== blob.sizeBytes)
    throw new Error(`Stored content ${blob.sha256} has ${file.size} of ${blob.sizeBytes} bytes on the disk`)
  return end - start === blob.sizeBytes ? file : file.slice(start, end)
}

function cacheOf(ctx: Context): Cache {
  const { replacements } = ctx.blobs
  const known = caches.get(ctx)
  if (known?.replacements === replacements) return known
  const cache: Cache = { bodies: new Map(), bytes: 0, replacements }
  caches.set(ctx, cache)
  return cache
}
