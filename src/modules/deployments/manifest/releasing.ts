import type { Context } from '../../../context.ts'
import { onePer } from '../../../platform/one-per.ts'

const running = onePer((_: Context) => new Map<string, Promise<unknown>>())

/** Remembers that an upload is being published, until it is. */
export async function asReleasing<T>(ctx: Context, uploadId: string, work: Promise<T>): Promise<T> {
  const uploads = running(ctx)
  uploads.set(uploadId, work)
  try {
    return await work
  } finally {
    if (uploads.get(uploadId) === work) uploads.delete(uploadId)
  }
}

/** Waits for the end of a publish of this upload that another request began; how it ends is that request's. */
export async function whenReleased(ctx: Context, uploadId: string): Promise<void> {
  await running(ctx)
    .get(uploadId)
    ?.catch(() => {})
}
