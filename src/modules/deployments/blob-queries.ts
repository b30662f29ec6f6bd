import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { fileKey } from '../../domain/store-keys.ts'
import type { BlobStage, StagedBlob, StoredBlob } from '../../platform/blob-store.ts'
import { noteRemoved } from './collect/removed-objects.ts'
import { replaceDamaged } from './damage.ts'

/** Stored contents, for several parts of this module. */

/** Where a content is stored now; null once it is freed. */
export function findBlob(db: Db, sha256: string): StoredBlob | null {
  return db.sqlite
    .query<StoredBlob, [string]>(
      'SELECT sha256, size_bytes AS sizeBytes, pack, offset, object FROM blobs WHERE sha256 = ?',
    )
    .get(sha256)
}

/** Prepared once, because it looks up each file of an upload. */
export function openStage({ blobs, db }: Context): BlobStage {
  const find = db.sqlite.query<{ damaged: 0 | 1 }, [string]>('SELECT damaged FROM blobs WHERE sha256 = ?')
  return blobs.stage((sha256) => {
    const row = find.get(sha256)
    if (row === null) return 'absent'
    return row.damaged === 1 ? 'damaged' : 'stored'
  })
}

/** Those of the contents that have a row, whichever upload brought them. */
export function listStored(db: Db, sha256s: readonly string[]): string[] {
  if (sha256s.length === 0) return []
  return db.sqlite
    .query<{ sha256: string }, [string]>(
      'SELECT sha256 FROM blobs WHERE sha256 IN (SELECT value FROM json_each(?))',
    )
    .all(JSON.stringify(sha256s))
    .map(({ sha256 }) => sha256)
}

/** A content that already has a row keeps it, unless it was damaged. */
export function insertBlobs(ctx: Context, blobs: readonly StagedBlob[]): void {
  const { db } = ctx
  replaceDamaged(ctx, blobs)
  const insert = db.sqlite.query<unknown, [string, number, string | null, number, string | null, number]>(
    'INSERT OR IGNORE INTO blobs (sha256, size_bytes, pack, offset, object, traits) VALUES (?, ?, ?, ?, ?, ?)',
  )
  for (const { sha256, sizeBytes, pack, offset, object, traits } of blobs) {
    const { changes } = insert.run(sha256, sizeBytes, pack, offset, object, traits)
    // Another upload had the same content at the same time.
    if (changes === 0 && object !== null && findBlob(db, sha256)?.object !== object)
      noteRemoved(db, fileKey(sha256, object), ctx.now())
  }
}
