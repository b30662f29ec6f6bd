import type { Context } from '../../context.ts'
import type { StoredBlob } from '../../platform/blob-store.ts'
import { findBlob } from './blob-queries.ts'
import { inspectDatabase, listBlobsAfter, listFilesOf, type Problem } from './check/queries.ts'
import { noteDamaged, noteIntact } from './damage.ts'

import { findRoutingProblems } from './routing/check.ts'

export type { Problem } from './check/queries.ts'

const PAGE = 500

/**
 * Checks everything that was published and reports damage: the database itself, the references between its rows, and
 * every stored content, whose bytes are all read again. Yields nothing when all is well. Notes which contents are damaged,
 * so that publishing them again stores them again.
 */
export async function* findProblems(ctx: Context): AsyncGenerator<Problem, void, undefined> {
  yield* inspectDatabase(ctx.db)
  for (const detail of findRoutingProblems(ctx)) yield { kind: 'routing', detail }
  for (let after = ''; ; ) {
    const blobs = listBlobsAfter(ctx.db, after, PAGE)
    for (const blob of blobs) {
      if (await ctx.blobs.verify(blob)) {
        if (blob.damaged === 1) noteIntact(ctx, blob.sha256)
        continue
      }
      const problem = await problemOf(ctx, blob)
      // The server may be running: the content may have been freed or moved while its bytes were read.
      if (problem === undefined) continue
      noteDamaged(ctx, blob.sha256)
      yield problem
    }
    const last = blobs.at(-1)
    if (last === undefined) return
    after = last.sha256
  }
}

async function problemOf(ctx: Context, seen: StoredBlob): Promise<Problem | undefined> {
  const blob = findBlob(ctx.db, seen.sha256)
  if (blob === null || (await ctx.blobs.verify(blob))) return undefined
  const files = listFilesOf(ctx.db, blob.sha256, 3)
  const where = files.length === 0 ? 'a compressed form, or not published' : files.join(', ')
  const isThere = await isReadable(ctx, blob)
  return {
    kind: isThere ? 'content_damaged' : 'content_missing',
    detail: `content ${blob.sha256} (${where}) ${isThere ? 'is not what was stored' : 'is missing from the disk'}`,
  }
}

async function isReadable(ctx: Context, blob: StoredBlob): Promise<boolean> {
  try {
    for await (const _ of ctx.blobs.stream(blob, 0, 1)) break
    return true
  } catch {
    return false
  }
}
