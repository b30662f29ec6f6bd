import type { Context } from '../../context.ts'
import { type Db, inTransaction } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { fileKey } from '../../domain/store-keys.ts'
import type { StoredBlob } from '../../platform/blob-store.ts'
import { listSenders } from './collect/queries.ts'
import { noteRemoved } from './collect/removed-objects.ts'
import { bumpRevisions } from './queries.ts'
import { withdrawVariant } from './variants/queries.ts'

/**
 * Notes that the stored bytes of a content differ from those that were uploaded. It no longer counts as stored, so an
 * upload that has it stores it again. A compressed form is no longer sent, and made again.
 */
export function noteDamaged(ctx: Context, sha256: string): void {
  const { db } = ctx
  inTransaction(db, () => {
    prepared(db, 'UPDATE blobs SET damaged = 1 WHERE sha256 = ?').run(sha256)
    bumpRevisions(db, listSenders(db, [sha256]))
    withdrawVariant(db, sha256)
  })
}

/** Its bytes are there again, such as after a disk was away. */
export function noteIntact(ctx: Context, sha256: string): void {
  inTransaction(ctx.db, () => {
    prepared(ctx.db, 'UPDATE blobs SET damaged = 0 WHERE sha256 = ?').run(sha256)
  })
}

/** Contents that were damaged are from now on where they were stored now. Runs in the transaction that adds the rows. */
export function replaceDamaged(ctx: Context, stored: readonly StoredBlob[]): void {
  const { db } = ctx
  const damaged = new Set(listDamaged(ctx))
  const replaced = stored.filter(({ sha256 }) => damaged.has(sha256))
  if (replaced.length === 0) return
  const place = prepared(
    db,
    'UPDATE blobs SET pack = ?, offset = ?, object = ?, damaged = 0 WHERE sha256 = ?',
  )
  for (const { sha256, pack, offset, object } of replaced) {
    const before = objectOf(db, sha256)
    if (before !== null) noteRemoved(db, fileKey(sha256, before), ctx.now())
    place.run(pack, offset, object, sha256)
  }
  bumpRevisions(
    db,
    listSenders(
      db,
      replaced.map(({ sha256 }) => sha256),
    ),
  )
  ctx.blobs.replacements += 1
}

const objectOf = (db: Db, sha256: string): string | null =>
  prepared<{ object: string | null }>(db, 'SELECT object FROM blobs WHERE sha256 = ?').get(sha256)?.object ??
  null

const listDamaged = ({ db }: Context): string[] =>
  prepared<{ sha256: string }>(db, 'SELECT sha256 FROM blobs WHERE damaged = 1')
    .all()
    .map(({ sha256 }) => sha256)
