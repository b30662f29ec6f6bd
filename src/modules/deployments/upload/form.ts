import type { Caller, Context } from '../../../context.ts'
import { AppError, invalidChoice, invalidField } from '../../../domain/errors.ts'
import { type FormPart, readMultipart } from '../../../http/multipart.ts'
import { type FoundFormat, formatOf, HEAD_BYTES } from '../../../platform/archive/format.ts'
import type { AddedBlob, BlobStage, SpooledFile } from '../../../platform/blob-store.ts'
import { once, peekHead } from '../../../platform/byte-stream.ts'
import { uploadBody } from './body.ts'
import type { UploadFields } from './fields.ts'
import { MAX_LEFT_OUT, storedPath, type UploadedFile, UploadedFiles } from './files.ts'
import { UploadGate } from './gate.ts'

type FilePart = Extract<FormPart, { kind: 'file' }>
type NamedContent = { filename: string; blob: AddedBlob; format: FoundFormat }

/** The files of a form; `loneArchive` is the path of the only one, if that is an archive by its name and its bytes. */
export type ReceivedForm = { files: UploadedFile[]; loneArchive: string | null }

const ARCHIVE_NAME = /\.(?:zip|tar|tar\.gz|tgz)$/i

const FILE_PARTS: ReadonlySet<string> = new Set(['file', 'files', 'file[]', 'files[]'])
const MAX_FILE_PATHS_BYTES = 16 * 1024 * 1024
const WHAT_TO_SEND = 'send them as parts named file, each with a filename'

/**
 * Reads a form of files and fields in any order: stages the contents, and adds the fields to `fields`. Skips unknown
 * parts and fields.
 */
export async function receiveForm(
  ctx: Context,
  caller: Caller,
  request: Request,
  fields: UploadFields,
  stage: BlobStage,
): Promise<ReceivedForm> {
  const contents: NamedContent[] = []
  await readForm(ctx, caller, request, fields, async ({ filename, body }) => {
    contents.push({ filename, ...(await stageContent(stage, body)) })
  })
  return nameContents(ctx, contents, fields)
}

async function stageContent(
  stage: BlobStage,
  body: FilePart['body'],
): Promise<Pick<NamedContent, 'blob' | 'format'>> {
  if (body instanceof Uint8Array)
    return { format: formatOf(body.subarray(0, HEAD_BYTES)), blob: await stage.add(body) }
  const { head, bytes } = await peekHead(body, HEAD_BYTES)
  return { format: formatOf(head), blob: await stage.add(bytes) }
}

/** Reads a form whose one file, first or last, is an archive. The caller removes the file. */
export async function receiveArchiveForm(
  ctx: Context,
  caller: Caller,
  request: Request,
  fields: UploadFields,
): Promise<SpooledFile> {
  const spooled: SpooledFile[] = []
  try {
    await readForm(ctx, caller, request, fields, async ({ body }) => {
      if (spooled.length > 0) throw new AppError('invalid', 'Send one archive, in one part named file')
      const pieces = body instanceof Uint8Array ? once(body) : body
      spooled.push(await ctx.blobs.spool(pieces, ctx.config.maxUploadBytes, 'The archive'))
    })
    const [archive] = spooled
    if (archive === undefined)
      throw invalidChoice('file', 'The form has no archive: send it as a part named file, with a filename')
    return archive
  } catch (error) {
    await Promise.all(spooled.map((file) => file.remove()))
    throw error
  }
}

async function readForm(
  ctx: Context,
  caller: Caller,
  request: Request,
  fields: UploadFields,
  onFile: (part: FilePart) => Promise<void>,
): Promise<void> {
  const gate = new UploadGate(ctx, caller, fields)
  gate.check()
  const limits = {
    maxBytes: ctx.config.maxUploadBytes,
    maxFiles: ctx.config.maxDeploymentFiles + MAX_LEFT_OUT,
    largeFields: { filePaths: MAX_FILE_PATHS_BYTES },
  }
  const type = request.headers.get('content-type')
  for await (const part of readMultipart(uploadBody(ctx, request), type, limits)) {
    if (part.kind === 'field') {
      fields.add(part.name, part.value)
      gate.check()
    } else if (FILE_PARTS.has(part.name) && (await gate.admits(part.body))) await onFile(part)
  }
  gate.close()
}

/** Names the files by `filePaths` if it was sent, before or after the files; else by their file names. */
function nameContents(ctx: Context, contents: NamedContent[], fields: UploadFields): ReceivedForm {
  const filePaths = parseFilePaths(fields, contents.length)
  const received = new UploadedFiles(ctx)
  let archive: string | null = null
  for (const [index, { filename, blob, format }] of contents.entries()) {
    // Browsers send this for a file input that was left empty.
    if (filePaths === undefined && filename === '' && blob.sizeBytes === 0) continue
    const path = storedPath(filePaths?.[index] ?? filename, 'sender', fields.leftOut)
    if (path === null) continue
    received.add(path, blob)
    if (format !== undefined && 'reads' in format && ARCHIVE_NAME.test(path)) archive = path
  }
  const files = received.all(WHAT_TO_SEND)
  return { files, loneArchive: files.length === 1 ? archive : null }
}

function parseFilePaths(fields: UploadFields, count: number): string[] | undefined {
  const given = fields.first('filePaths')
  if (given === undefined) return undefined
  const paths = parseJson(given)
  if (Array.isArray(paths) && paths.length === count && paths.every((path) => typeof path === 'string'))
    return paths
  throw invalidField('filePaths', `must be a JSON array of ${count} paths, one for each file, in their order`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
