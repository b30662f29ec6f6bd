import type { Context } from '../context.ts'
import { keepFile, type StoredFile, stageFile } from '../modules/files/service.ts'
import type { ByteStream } from '../platform/byte-stream.ts'

/** Stores a file of a project as the upload address does. */
export async function putFile(
  ctx: Context,
  projectId: string,
  path: string,
  content: string | Uint8Array,
  contentType = 'application/octet-stream',
): Promise<StoredFile> {
  const staged = await stageFile(ctx, projectId, bytesOf(content), { maxBytes: 2 ** 30, path })
  return (await keepFile(ctx, { projectId, path, contentType, isRegistered: false }, staged)).file
}

export async function* bytesOf(content: string | Uint8Array): ByteStream {
  yield Buffer.from(content)
}
