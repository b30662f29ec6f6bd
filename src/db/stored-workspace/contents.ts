import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { fileKey, packKey } from '../../domain/store-keys.ts'

/** A content within an object. `isDamaged`: an earlier check found that its bytes are others. */
export type Part = { sha256: string; offset: number; sizeBytes: number; isDamaged: boolean }

/** An object that rows name: a pack, or the file of one large content. */
export type ContentObject = {
  /** Null for a large content that no object is known of. */
  key: string | null
  /** Its place below `blobs/` of a data directory. */
  path: string
  /** By offset. */
  parts: Part[]
}

type Row = {
  sha256: string
  sizeBytes: number
  pack: string | null
  offset: number
  damaged: number
  object: string | null
}

/** The objects that hold the contents of a database, whose schema may be older. */
export function* listContents(sqlite: Database): Generator<ContentObject> {
  let last: { pack: string; found: ContentObject } | undefined
  const object = hasColumn(sqlite, 'object') ? 'object' : 'NULL'
  const damaged = hasColumn(sqlite, 'damaged') ? 'damaged' : '0'
  const rows = sqlite.query<Row, []>(
    `SELECT sha256, size_bytes AS sizeBytes, pack, offset, ${damaged} AS damaged, ${object} AS object
     FROM blobs ORDER BY pack, offset, size_bytes`,
  )
  for (const { sha256, sizeBytes, pack, offset, damaged, object } of rows.iterate()) {
    const part = { sha256, offset, sizeBytes, isDamaged: damaged === 1 }
    if (pack === null) {
      const path = join('files', sha256.slice(0, 2), sha256)
      yield { key: object === null ? null : fileKey(sha256, object), path, parts: [part] }
    } else if (last?.pack === pack) last.found.parts.push(part)
    else {
      if (last !== undefined) yield last.found
      last = { pack, found: { key: packKey(pack), path: join('packs', `${pack}.pack`), parts: [part] } }
    }
  }
  if (last !== undefined) yield last.found
}

/** The bytes that an object has at least; a file has exactly these. */
export const neededBytes = ({ parts }: ContentObject): number =>
  parts.reduce((end, { offset, sizeBytes }) => Math.max(end, offset + sizeBytes), 0)

const hasColumn = (sqlite: Database, name: string): boolean =>
  sqlite.query("SELECT 1 FROM pragma_table_info('blobs') WHERE name = ?").get(name) !== null
