import type { Caller, Context } from '../../context.ts'
import { authorizeUpload, uploaderOf } from './publish/access.ts'
import { type Published, publish } from './publish.ts'
import { ARCHIVE_TYPES, type ArchiveKind, receiveArchive, receiveZip } from './upload/archive.ts'
import { mediaTypeOf, unsupportedType } from './upload/body.ts'
import { parsePublication, targetOf, UploadFields } from './upload/fields.ts'
import { receiveArchiveForm, receiveForm } from './upload/form.ts'

/** A form of files. spec: POST /api/assets/upload; contract §5.2. */
export async function publishForm(ctx: Context, request: Request): Promise<Published> {
  const caller = uploaderOf(ctx, request)
  const type = mediaTypeOf(request)
  if (type !== 'multipart/form-data') refuseType(ctx, caller, request, 'multipart/form-data')
  const fields = uploadFieldsOf(request)
  return publish(ctx, caller, async (stage) => {
    const files = await receiveForm(ctx, caller, request, fields, stage)
    return { files, publication: parsePublication(fields) }
  })
}

/** A form of files, or a raw archive with its fields in the query string. */
export async function publishDeployment(ctx: Context, request: Request): Promise<Published> {
  const caller = uploaderOf(ctx, request)
  const type = mediaTypeOf(request)
  if (type === 'multipart/form-data') return publishForm(ctx, request)
  const kind = ARCHIVE_TYPES.get(type)
  if (kind !== undefined) return publishArchive(ctx, caller, request, kind)
  return refuseType(
    ctx,
    caller,
    request,
    'multipart/form-data, application/zip, application/x-tar or application/gzip',
  )
}

/** The query string names the target, so a caller who may not publish there is refused before the body is read. */
async function publishArchive(
  ctx: Context,
  caller: Caller,
  request: Request,
  kind: ArchiveKind,
): Promise<Published> {
  const fields = uploadFieldsOf(request)
  authorizeTarget(ctx, caller, fields)
  const publication = parsePublication(fields)
  return publish(ctx, caller, async (stage) => ({
    files: await receiveArchive(ctx, request, kind, stage),
    publication,
  }))
}

/** A zip archive sent as the only file of a form. It is stored on disk before it is unpacked. */
export async function publishZipForm(
  ctx: Context,
  request: Request,
  fields = uploadFieldsOf(request),
): Promise<Published> {
  const caller = uploaderOf(ctx, request)
  const type = mediaTypeOf(request)
  if (type !== 'multipart/form-data')
    refuseType(ctx, caller, request, 'multipart/form-data with one part file')
  const archive = await receiveArchiveForm(ctx, caller, request, fields)
  try {
    const publication = parsePublication(fields)
    return await publish(ctx, caller, async (stage) => ({
      files: await receiveZip(ctx, archive.path, stage),
      publication,
    }))
  } finally {
    await archive.remove()
  }
}

/** A caller who may not publish to the target in the query gets that error, not one about the body. contract §2. */
function refuseType(ctx: Context, caller: Caller, request: Request, readable: string): never {
  authorizeTarget(ctx, caller, uploadFieldsOf(request))
  throw unsupportedType(mediaTypeOf(request), readable)
}

function authorizeTarget(ctx: Context, caller: Caller, fields: UploadFields): void {
  const target = targetOf(fields)
  if (target !== undefined) authorizeUpload(ctx, caller, target)
}

/** The fields in the query string. The fields of the form are added as they are read. */
export const uploadFieldsOf = (request: Request): UploadFields =>
  new UploadFields(new URL(request.url).searchParams)
