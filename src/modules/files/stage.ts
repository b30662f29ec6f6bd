import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import type { BlobStage } from '../../platform/blob-store.ts'
import { type ByteStream, givingBack, limitBytes } from '../../platform/byte-stream.ts'
import { openStage } from '../deployments/blob-queries.ts'
import { refuseBeyondRoom } from './room.ts'

/** The bytes of a file that is not kept yet. */
export type StagedFile = {
  sha256: string
  size: number
  /** For `keepFile`. */
  stage: BlobStage
  /** Removes them, unless they were kept. May be called repeatedly. */
  discard: () => Promise<void>
}

/** `statedBytes`: as announced. `path`: the file that is replaced, whose bytes do not count. */
type Limits = { maxBytes: number; statedBytes?: number | undefined; path?: string | undefined }

/**
 * Streams a file to the disk, in constant memory: each piece is freed once it is written. Throws 413 `FILE_TOO_LARGE`,
 * `PROJECT_FILES_FULL`, `QUOTA_EXCEEDED` and 507, before the first byte where the announced size says so; nothing is left then.
 * The caller keeps the file or discards it.
 */
export async function stageFile(
  ctx: Context,
  projectId: string,
  body: ByteStream,
  { maxBytes, statedBytes, path }: Limits,
): Promise<StagedFile> {
  if (statedBytes !== undefined && statedBytes > maxBytes) throw fileTooLarge(maxBytes)
  refuseBeyondRoom(ctx, projectId, { size: statedBytes ?? 0, path })
  const stage = openStage(ctx)
  try {
    const { sha256, sizeBytes } = await stage.add(givingBack(limited(body, maxBytes)))
    return { sha256, size: sizeBytes, stage, discard: () => stage.discard() }
  } catch (error) {
    await stage.discard()
    throw error
  }
}

/** The bytes of a file that was kept a moment ago, for another file that has them, too. */
export function stageAgain(ctx: Context, { sha256, size }: StagedFile): StagedFile {
  const stage = openStage(ctx)
  stage.expect([sha256], () => [sha256])
  return { sha256, size, stage, discard: () => stage.discard() }
}

export const fileTooLarge = (maxBytes: number): AppError =>
  new AppError('too_large', `The file is larger than the ${maxBytes} bytes allowed. Nothing was stored.`, {
    code: 'FILE_TOO_LARGE',
  })

async function* limited(body: ByteStream, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of limitBytes(body, Number.POSITIVE_INFINITY, 'The file')) {
    size += chunk.length
    if (size > maxBytes) throw fileTooLarge(maxBytes)
    yield chunk
  }
}
