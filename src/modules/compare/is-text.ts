import { isUtf8 } from 'node:buffer'
import type { Context } from '../../context.ts'
import { withoutCutEnd } from '../../domain/content-traits.ts'
import { type StoredBlob, withContents } from '../../platform/blob-store.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { onePer } from '../../platform/one-per.ts'

/** Of a larger content its first bytes are looked at. */
const LOOKED_AT = 1024 * 1024
const MAX_KNOWN = 10_000
/** What is read before others get their turn. */
const PIECE = 1024 * 1024

const knownOf = onePer((_: Context) => ({ answers: new Map<string, boolean>(), read: 0 }))

/** Whether it is UTF-8 without NUL. */
export async function isTextContent(ctx: Context, blob: StoredBlob): Promise<boolean> {
  const known = knownOf(ctx)
  const answer = known.answers.get(blob.sha256)
  if (answer !== undefined) return answer
  const end = Math.min(blob.sizeBytes, LOOKED_AT)
  const bytes = await withContents(ctx, () =>
    end === blob.sizeBytes ? ctx.blobs.readSync(blob) : ctx.blobs.readPartSync(blob, 0, end),
  )
  const whole = end === blob.sizeBytes ? bytes : withoutCutEnd(bytes)
  const isText = whole !== undefined && !whole.includes(0) && isUtf8(whole)
  if (known.answers.size >= MAX_KNOWN) known.answers.clear()
  known.answers.set(blob.sha256, isText)
  known.read += end
  if (known.read > PIECE) {
    known.read = 0
    await nextTurn()
  }
  return isText
}
