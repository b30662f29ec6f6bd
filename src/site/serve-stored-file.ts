import type { Context } from '../context.ts'
import { attachmentNamed } from '../domain/content-disposition.ts'
import { UNKNOWN_TRAITS } from '../domain/content-traits.ts'
import {
  contentTypeOf,
  dependsOnBytes,
  extensionOf,
  isScript,
  mimeTypeOf,
  runsAsPage,
} from '../domain/content-type.ts'
import { AppError } from '../domain/errors.ts'
import { typeOfExtension } from '../domain/extension-types.ts'
import { type KnownBlob, traitsOfBlob } from '../modules/deployments/traits.ts'
import { downloadName } from '../modules/files/keys.ts'
import { findPlace, type ServeDownload, type StoredFile } from '../modules/files/service.ts'
import { withContents } from '../platform/blob-store.ts'
import { LARGEST_KEPT } from './body-cache.ts'
import { serveContent } from './serve-content.ts'

/** `cacheControl` as it is sent. Without `disposition` a browser shows the file. `isSandboxed`: whatever its type. */
export type FileServing = {
  cacheControl: string
  allowScripts?: boolean
  disposition?: string
  isSandboxed?: boolean
}

/** A file for members of the project: a download in which nothing runs. contract 14.2. */
export const serveDownload: ServeDownload = (ctx, request, file) =>
  serveStoredFile(ctx, request, file, {
    cacheControl: 'private, no-store',
    disposition: attachmentNamed(downloadName(file.path)),
    isSandboxed: true,
  })

/**
 * Serves a file of a project, which anybody may have written: what a browser would run as a page is sandboxed, scripts are text
 * and no service worker is given. Throws 403 for one, 404 if the file is gone. contract 14.3, Serving.
 */
export function serveStoredFile(
  ctx: Context,
  request: Request,
  file: StoredFile,
  serving: FileServing,
): Response | Promise<Response> {
  if (request.headers.get('service-worker') === 'script')
    throw new AppError('forbidden', 'A file of a project is never a service worker')
  const blob = findPlace(ctx, file)
  if (blob === null) throw new AppError('not_found', 'There is no such file', { code: 'FILE_NOT_FOUND' })
  return withContents(ctx, () =>
    serveContent(ctx, request, {
      blob,
      lastModified: file.updatedAt,
      headers: headersOf(ctx, file, blob, serving),
    }),
  )
}

const SANDBOX = 'sandbox'
const SANDBOX_WITH_SCRIPTS = 'sandbox allow-scripts allow-forms allow-popups allow-downloads'

function headersOf(ctx: Context, file: StoredFile, blob: KnownBlob, serving: FileServing): Headers {
  const { cacheControl, allowScripts = false, disposition, isSandboxed = false } = serving
  const type = shownType(ctx, file, blob)
  const isActive = runsAsPage(type) || isScript(type)
  const headers = new Headers({
    'content-type': allowScripts || !isScript(type) ? type : inertType(ctx, file, blob),
    'cache-control': cacheControl,
    'x-content-type-options': 'nosniff',
  })
  if (isActive && allowScripts) headers.set('content-security-policy', SANDBOX_WITH_SCRIPTS)
  else if (isSandboxed || runsAsPage(type)) headers.set('content-security-policy', SANDBOX)
  if (cacheControl.startsWith('private')) headers.set('vary', 'Cookie')
  if (disposition !== undefined) headers.set('content-disposition', disposition)
  // Otherwise the runtime adds one, with the stored file's name, when it sends from disk.
  else if (blob.sizeBytes > LARGEST_KEPT) headers.set('content-disposition', 'inline')
  return headers
}

/** By the extension, else as it was declared, but for what a browser would run. */
function shownType(ctx: Context, { path, contentType }: StoredFile, blob: KnownBlob): string {
  if (typeOfExtension(extensionOf(path)) !== undefined) return withCharset(ctx, path, blob)
  return runsAsPage(contentType) || isScript(contentType) ? 'application/octet-stream' : contentType
}

const inertType = (ctx: Context, { path }: StoredFile, blob: KnownBlob): string =>
  mimeTypeOf(path) === 'application/wasm' ? 'application/octet-stream' : withCharset(ctx, 'script.txt', blob)

const withCharset = (ctx: Context, path: string, blob: KnownBlob): string =>
  contentTypeOf(path, dependsOnBytes(path) ? traitsOfBlob(ctx, blob) : UNKNOWN_TRAITS)
