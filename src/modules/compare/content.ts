import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { type StoredBlob, withContents } from '../../platform/blob-store.ts'
import type { Grant } from '../auth/authorize.ts'
import { findContent } from '../deployments/browse.ts'
import { requireDeployment } from '../deployments/service.ts'
import { typeOfFile } from '../deployments/traits.ts'
import { assetPath } from './service.ts'

/** Answers with stored bytes as a site does: conditions, ranges. Throws `ContentMiss` for what must be fetched first. */
export type ServeContent = (
  ctx: Context,
  request: Request,
  content: { blob: StoredBlob; lastModified: number; headers: Headers },
) => Response

/** A file of a deployment as such: nothing in it runs or loads anything, whatever it is. contract 17.4. */
export function contentOf(
  ctx: Context,
  serve: ServeContent,
  grant: Grant,
  deploymentId: string,
  askedPath: string,
  request: Request,
): Response | Promise<Response> {
  const { id, updatedAt } = requireDeployment(ctx.db.orm, grant, deploymentId)
  const path = assetPath(askedPath)
  const blob = findContent(ctx.db, id, path)
  if (blob === null) throw new AppError('not_found', 'This deployment has no such file')
  const type = typeOfFile(ctx, { path, sha256: blob.sha256 })
  const headers = new Headers({
    'content-type': type,
    'content-disposition': SHOWN_IMAGES.has(type) ? 'inline' : 'attachment',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
    // A page of a sibling host sends the cookie too.
    'cross-origin-resource-policy': 'same-origin',
  })
  return withContents(ctx, () => serve(ctx, request, { blob, lastModified: updatedAt, headers }))
}

const SHOWN_IMAGES: ReadonlySet<string> = new Set(
  ['png', 'jpeg', 'gif', 'webp', 'avif'].map((kind) => `image/${kind}`),
)
