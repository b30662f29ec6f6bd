import type { Context } from '../../../context.ts'
import type { ArchiveEntry, ArchiveLimits } from '../../../platform/archive/entry.ts'
import { gunzip } from '../../../platform/archive/gzip.ts'
import { readTar } from '../../../platform/archive/tar.ts'
import { readZip } from '../../../platform/archive/zip.ts'
import type { BlobStage } from '../../../platform/blob-store.ts'
import { limitBytes } from '../../../platform/byte-stream.ts'
import { uploadBody } from './body.ts'
import { MAX_LEFT_OUT, storedPath, type UploadedFile, UploadedFiles } from './files.ts'

export type ArchiveKind = 'zip' | 'tar' | 'tar.gz'

/** How a raw body is read, by media type. */
export const ARCHIVE_TYPES: ReadonlyMap<string, ArchiveKind> = new Map([
  ['application/zip', 'zip'],
  ['application/x-zip-compressed', 'zip'],
  ['application/x-tar', 'tar'],
  ['application/tar', 'tar'],
  ['application/gzip', 'tar.gz'],
  ['application/x-gzip', 'tar.gz'],
] as const)

/** What a tar adds per file: its header, a pax header, and padding. */
const TAR_BYTES_PER_FILE = 2048

/** Unpacks the request's body into the stage. */
export async function receiveArchive(
  ctx: Context,
  request: Request,
  kind: ArchiveKind,
  stage: BlobStage,
): Promise<UploadedFile[]> {
  const { maxUploadBytes, maxDeploymentFiles } = ctx.config
  const body = limitBytes(uploadBody(ctx, request) ?? nothing(), maxUploadBytes, 'The request body')
  if (kind === 'zip') {
    const spooled = await ctx.blobs.spool(body, maxUploadBytes, 'The request body')
    try {
      return await receiveZip(ctx, spooled.path, stage)
    } finally {
      await spooled.remove()
    }
  }
  const unpackedBytes = maxUploadBytes + maxDeploymentFiles * TAR_BYTES_PER_FILE
  const tar = kind === 'tar.gz' ? gunzip(body, unpackedBytes) : body
  return stageEntries(ctx, readTar(tar, archiveLimits(ctx)), stage)
}

/** Unpacks a zip file on disk. */
export function receiveZip(ctx: Context, path: string, stage: BlobStage): Promise<UploadedFile[]> {
  return stageEntries(ctx, readZip(path, archiveLimits(ctx)), stage)
}

export const archiveLimits = ({ config }: Context): ArchiveLimits => ({
  maxFiles: config.maxDeploymentFiles + MAX_LEFT_OUT,
  maxBytes: config.maxUploadBytes,
})

async function stageEntries(
  ctx: Context,
  entries: AsyncIterable<ArchiveEntry>,
  stage: BlobStage,
): Promise<UploadedFile[]> {
  const files = new UploadedFiles(ctx)
  for await (const { path: raw, body } of entries) {
    const path = storedPath(raw, 'archive')
    if (path !== null) files.add(path, await stage.add(body))
  }
  return files.all('the archive has none, or only files that are left out')
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
