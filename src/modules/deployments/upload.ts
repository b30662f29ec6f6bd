import type { Caller, Context } from '../../context.ts'
import { refuseLowDisk } from '../storage/floor.ts'
import { authorizeUpload, uploaderOf } from './publish/access.ts'
import { failureOf } from './publish/failure.ts'
import { tellingOfFailure } from './publish/tell.ts'
import { type Published, publish } from './publish.ts'
import { isArchiveType, receiveArchive, receiveZip } from './upload/archive.ts'
import { archiveAsFile } from './upload/archive-refusals.ts'
import { mediaTypeOf, unsupportedType } from './upload/body.ts'
import { parseOrder, targetOf, UploadFields } from './upload/fields.ts'
import { receiveArchiveForm, receiveForm } from './upload/form.ts'

/** A form of files, whatever they are, one by one or many: they are appended. spec: POST /api/assets/upload; contract §5.2. */
export const publishAssets = (ctx: Context, request: Request): Promise<Published> =>
  publishForm(ctx, request, { takesArchive: true, alwaysAppends: true })

/** `takesArchive`: a lone archive is published as a file, which is hardly what its sender meant. */
async function publishForm(
  ctx: Context,
  request: Request,
  { takesArchive, alwaysAppends }: { takesArchive: boolean; alwaysAppends: boolean },
  fields = uploadFieldsOf(request),
): Promise<Published> {
  const caller = uploaderOf(ctx, request)
  const type = mediaTypeOf(request)
  if (type !== 'multipart/form-data') refuseType(ctx, caller, request, 'multipart/form-data')
  return telling(ctx, caller, fields, () =>
    publish(ctx, caller, async (stage) => {
      const { files, loneArchive } = await receiveForm(ctx, caller, request, fields, stage)
      const order = parseOrder(fields)
      if (loneArchive !== null && !takesArchive && !order.asFiles) throw archiveAsFile(ctx, loneArchive)
      if (alwaysAppends) return { files, order: { ...order, append: true, ask: false } }
      return { files, order }
    }),
  )
}

/** Runs the publish if there is room, and tells the hooks when it fails, if its fields say where to and the caller may publish there. */
const telling = (
  ctx: Context,
  caller: Caller,
  fields: UploadFields,
  work: () => Promise<Published>,
): Promise<Published> =>
  tellingOfFailure(
    ctx,
    caller,
    () => failureOf(ctx, caller, fields),
    async () => {
      refuseLowDisk(ctx)
      return work()
    },
  )

/** A form of files, or a raw archive with its fields in the query string. */
export async function publishDeployment(
  ctx: Context,
  request: Request,
  fields = uploadFieldsOf(request),
): Promise<Published> {
  const caller = uploaderOf(ctx, request)
  const type = mediaTypeOf(request)
  if (type === 'multipart/form-data')
    return publishForm(ctx, request, { takesArchive: false, alwaysAppends: false }, fields)
  if (isArchiveType(type)) return publishArchive(ctx, caller, request, type)
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
  type: string,
): Promise<Published> {
  const fields = uploadFieldsOf(request)
  authorizeTarget(ctx, caller, fields)
  return telling(ctx, caller, fields, async () => {
    const order = parseOrder(fields)
    return publish(ctx, caller, async (stage) => ({
      files: await receiveArchive(ctx, request, type, { stage, leftOut: fields.leftOut }),
      order,
    }))
  })
}

/** A zip archive sent as the only file of a form. It is stored on disk before it is unpacked. */
export async function publishZipForm(
  ctx: Context,
  request: Request,
  fields = uploadFieldsOf(request),
  orderOf = parseOrder,
): Promise<Published> {
  const caller = uploaderOf(ctx, request)
  const type = mediaTypeOf(request)
  if (type !== 'multipart/form-data')
    refuseType(ctx, caller, request, 'multipart/form-data with one part file')
  return telling(ctx, caller, fields, async () => {
    const archive = await receiveArchiveForm(ctx, caller, request, fields)
    try {
      const order = orderOf(fields)
      return await publish(ctx, caller, async (stage) => ({
        files: await receiveZip(ctx, archive.path, { stage, leftOut: fields.leftOut }),
        order,
      }))
    } finally {
      await archive.remove()
    }
  })
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

/**
 * The fields in the query string. The fields of the form are added as they are read. `makesProject`: the upload makes its
 * project, with the same rights as a form that does.
 */
export const uploadFieldsOf = (request: Request, options: { makesProject?: boolean } = {}): UploadFields =>
  new UploadFields(new URL(request.url).searchParams, options)
