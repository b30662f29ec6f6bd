import type { Context } from '../../../context.ts'
import { AppError } from '../../../domain/errors.ts'
import { ArchiveBudget, type ArchiveEntry, type ArchiveLimits } from '../../../platform/archive/entry.ts'
import { type ArchiveFormat, formatOf, HEAD_BYTES } from '../../../platform/archive/format.ts'
import { gunzip } from '../../../platform/archive/gzip.ts'
import { readTar } from '../../../platform/archive/tar.ts'
import { readZip } from '../../../platform/archive/zip.ts'
import type { BlobStage } from '../../../platform/blob-store.ts'
import { type ByteStream, limitBytes, peekHead } from '../../../platform/byte-stream.ts'
import { emptyBody, noArchive, noTarInside, refuseNamed, tarAsZip } from './archive-refusals.ts'
import { uploadBody } from './body.ts'
import { MAX_LEFT_OUT, shown, storedPath, type UploadedFile, UploadedFiles } from './files.ts'
import { LeftOut } from './left-out.ts'

/** The types of a raw body that names its format. Where its bytes tell another, they decide. contract 12.9. */
export const ARCHIVE_TYPES: ReadonlyMap<string, ArchiveFormat> = new Map([
  ...typed('zip', ['zip', 'x-zip', 'x-zip-compressed']),
  ...typed('tar', ['x-tar', 'x-gtar', 'tar']),
  ...typed('gzip', ['gzip', 'x-gzip', 'x-tgz', 'x-compressed', 'x-compressed-tar']),
])

/** Types that say nothing, the second of which curl sends with --data-binary: the bytes alone decide. */
const UNDECIDED_TYPES: ReadonlySet<string> = new Set([
  '',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
])

export const isArchiveType = (type: string): boolean => ARCHIVE_TYPES.has(type) || UNDECIDED_TYPES.has(type)

function typed(format: ArchiveFormat, names: readonly string[]): [string, ArchiveFormat][] {
  return names.map((name) => [`application/${name}`, format])
}

/** What a tar adds per file: its header, a pax header, and padding. */
const TAR_BYTES_PER_FILE = 2048

/** Where the contents go, and the names of what is not taken in. */
type Into = { stage: BlobStage; leftOut: LeftOut }

/** Unpacks the request's body into the stage. */
export async function receiveArchive(
  ctx: Context,
  request: Request,
  type: string,
  into: Into,
): Promise<UploadedFile[]> {
  const body = uploadBody(ctx, request) ?? nothing()
  const limited = limitBytes(body, ctx.config.maxUploadBytes, 'The request body')
  const { head, bytes, close } = await peekHead(limited, HEAD_BYTES)
  try {
    return await unpack(ctx, bodyFormat(head, type), bytes, into)
  } finally {
    await close()
  }
}

/** Bytes that tell nothing are read as what the type says, whose reader finds what is wrong with them. */
function bodyFormat(head: Uint8Array, type: string): ArchiveFormat {
  const found = formatOf(head)
  refuseNamed(found, 'The request body')
  const format = found !== undefined && 'reads' in found ? found.reads : ARCHIVE_TYPES.get(type)
  if (format === undefined) throw head.length === 0 ? emptyBody() : noArchive()
  return format
}

async function unpack(
  ctx: Context,
  format: ArchiveFormat,
  bytes: ByteStream,
  into: Into,
): Promise<UploadedFile[]> {
  if (format === 'tar') return stageEntries(ctx, readTar(bytes, archiveLimits(ctx)), into)
  if (format === 'gzip') return unpackGzip(ctx, bytes, into)
  const spooled = await ctx.blobs.spool(bytes, ctx.config.maxUploadBytes, 'The request body')
  try {
    return await stageEntries(ctx, readZip(spooled.path, archiveLimits(ctx)), into)
  } finally {
    await spooled.remove()
  }
}

async function unpackGzip(ctx: Context, packed: ByteStream, into: Into): Promise<UploadedFile[]> {
  const { maxUploadBytes, maxDeploymentFiles } = ctx.config
  const unpacked = gunzip(packed, maxUploadBytes + maxDeploymentFiles * TAR_BYTES_PER_FILE)
  const { head, bytes, close } = await peekHead(unpacked, HEAD_BYTES)
  try {
    const inside = formatOf(head)
    const isTar = inside !== undefined && 'reads' in inside && inside.reads === 'tar'
    if (head.length > 0 && !isTar) throw noTarInside(inside)
    return await stageEntries(ctx, readTar(bytes, archiveLimits(ctx)), into)
  } finally {
    await close()
  }
}

/** Unpacks a zip file on disk that came in a form. A tar there is refused, with where it goes. */
export async function receiveZip(ctx: Context, path: string, into: Into): Promise<UploadedFile[]> {
  const found = formatOf(await Bun.file(path).slice(0, HEAD_BYTES).bytes())
  refuseNamed(found, 'The file')
  if (found !== undefined && 'reads' in found && found.reads !== 'zip') throw tarAsZip(ctx, found.reads)
  return stageEntries(ctx, readZip(path, archiveLimits(ctx)), into)
}

export const archiveLimits = ({ config }: Context): ArchiveLimits => ({
  maxFiles: config.maxDeploymentFiles + MAX_LEFT_OUT,
  maxBytes: config.maxUploadBytes,
})

/** A hard link is stored as the file that it is, and counts with its bytes, which the archive does not hold again. */
async function stageEntries(
  ctx: Context,
  entries: AsyncIterable<ArchiveEntry>,
  { stage, leftOut }: Into,
): Promise<UploadedFile[]> {
  const files = new UploadedFiles(ctx)
  const budget = new ArchiveBudget(archiveLimits(ctx))
  for await (const { path: raw, body, sizeBytes, linkTo } of entries) {
    const path = storedPath(raw, 'archive', leftOut)
    const linked = path === null || linkTo === undefined ? undefined : linkedFile(files, path, linkTo)
    budget.addFile(linked?.sizeBytes ?? sizeBytes)
    if (path !== null) files.add(path, linked ?? (await stage.add(body)))
  }
  return files.all('the archive has none, or only files that are left out')
}

/** The file that a hard link is: an earlier one that is not left out. Throws `invalid` naming both. */
function linkedFile(files: UploadedFiles, path: string, linkTo: string): UploadedFile {
  const refused = (why: string) =>
    new AppError('invalid', `${shown(path)} is a hard link to ${shown(linkTo)}, ${why}`)
  let target: string | null
  try {
    target = storedPath(linkTo, 'archive', new LeftOut())
  } catch (error) {
    throw error instanceof AppError ? refused(`which no file is called: ${error.message}`) : error
  }
  if (target === null) throw refused('which is left out of deployments: pack it with --hard-dereference')
  if (target === path) throw refused('which is itself')
  const file = files.find(target)
  if (file === undefined) throw refused('which is no file that comes before it in the archive')
  return file
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
