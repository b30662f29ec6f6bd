import type { Context } from '../../context.ts'
import { mimeTypeOf } from '../../domain/content-type.ts'
import { withContents } from '../../platform/blob-store.ts'
import type { Grant } from '../auth/authorize.ts'
import { listRecords } from '../records/manage.ts'
import { listSchemas } from '../schemas/service.ts'
import { getFile, requireFile } from './manage.ts'
import type { FileView } from './model.ts'
import { findPlace } from './service.ts'

/** How a page can show a file: by an element in which nothing runs, as text, or not at all. */
export type Shown = Media | { kind: 'text'; text: string } | null
type Media = { kind: 'image' } | { kind: 'audio' } | { kind: 'video' }

/** The record that names a file. */
export type NamedBy = { schemaId: string; schemaName: string; recordId: string }

export type FileDetail = { file: FileView; type: string; shown: Shown; record: NamedBy | null }

const MAX_TEXT_BYTES = 256 * 1024
/** A project may have hundreds, and each is looked through. */
const MAX_SCHEMAS = 10
/** Where `file_upload_handler` and `register_upload` store the key. */
const KEY_FIELD = 'storage_path'

/** All that the admin's page of a file shows. */
export async function lookAtFile(ctx: Context, grant: Grant, fileId: string): Promise<FileDetail> {
  const file = getFile(ctx, grant, fileId)
  const byName = mimeTypeOf(file.path)
  const type = byName === 'application/octet-stream' ? file.contentType : byName
  return {
    file,
    type,
    shown: await shownAs(ctx, grant, file, type),
    record: await recordNaming(ctx, grant, file.key),
  }
}

async function shownAs(ctx: Context, grant: Grant, file: FileView, type: string): Promise<Shown> {
  const kind = (['image', 'audio', 'video'] as const).find((one) => type.startsWith(`${one}/`))
  if (kind !== undefined) return { kind }
  const place = file.size > MAX_TEXT_BYTES ? null : findPlace(ctx, requireFile(ctx, grant, file.id))
  if (place === null) return null
  const text = textIn(await withContents(ctx, () => ctx.blobs.readSync(place)))
  return text === null ? null : { kind: 'text', text }
}

/** Null for binary content. */
function textIn(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** In the first schemas that have such a field. */
async function recordNaming(ctx: Context, grant: Grant, key: string): Promise<NamedBy | null> {
  const isNaming = ({ name, type }: { name: string; type: string }) =>
    name === KEY_FIELD && (type === 'string' || type === 'text')
  const schemas = listSchemas(ctx, grant).filter(({ fields }) => fields.some(isNaming))
  for (const { id, name } of schemas.slice(0, MAX_SCHEMAS)) {
    const filter = { field: KEY_FIELD, op: 'eq', value: key } as const
    const [record] = (await listRecords(ctx, grant, id, { limit: 1 }, [filter])).data
    if (record !== undefined) return { schemaId: id, schemaName: name, recordId: record.id }
  }
  return null
}

/** The address of the bytes, which is a download wherever it is opened. */
export const contentHref = (projectId: string, fileId: string): string =>
  `/api/projects/${projectId}/files/${fileId}/content`
