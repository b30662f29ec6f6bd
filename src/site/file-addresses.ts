import type { Context } from '../context.ts'
import { attachmentNamed } from '../domain/content-disposition.ts'
import { HOUR_MS } from '../domain/durations.ts'
import { AppError } from '../domain/errors.ts'
import type { Arrival } from '../http/arrival.ts'
import { errorResponse, toAppError } from '../http/error-response.ts'
import { findFile } from '../modules/files/service.ts'
import { readFileToken } from '../modules/files/tokens.ts'
import { isPlainRead } from './serve-asset.ts'
import { serveStoredFile } from './serve-stored-file.ts'
import { takeUpload } from './take-upload.ts'

const UPLOADS = '/_svc/uploads'
const FILES = '/_svc/files/'

/**
 * The two addresses that a token opens, on every site's host (`projectId`) and the admin's (null), before anything that decides
 * who may see a site. Undefined for any other path. Never throws: nobody else sees the query. contract 14.4.
 */
export function serveFileAddress(
  ctx: Context,
  arrival: Arrival,
  projectId: string | null,
): Response | Promise<Response> | undefined {
  const { path } = arrival
  if (path === UPLOADS) return answered(ctx, arrival, () => takeUpload(ctx, arrival, projectId))
  const name = path.startsWith(FILES) ? path.slice(FILES.length) : ''
  if (name === '' || name.includes('/')) return undefined
  return answered(ctx, arrival, () => serveSigned(ctx, arrival, projectId))
}

async function answered(
  ctx: Context,
  { request }: Arrival,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    return errorResponse(toAppError(ctx, error, request))
  }
}

function serveSigned(
  ctx: Context,
  { request, search }: Arrival,
  projectId: string | null,
): Response | Promise<Response> {
  if (!isPlainRead(request))
    throw new AppError('method_not_allowed', 'Use GET or HEAD', { headers: { allow: 'GET, HEAD' } })
  const facts = readFileToken(ctx, new URLSearchParams(search).get('token') ?? '')
  if (facts === undefined || (projectId !== null && projectId !== facts.projectId))
    throw refused('FILE_URL_INVALID', 'This link is none of this site, or was changed')
  const restMs = facts.endsAt - ctx.now()
  if (restMs <= 0) throw refused('FILE_URL_EXPIRED', 'This link has ended; ask for a new one')
  const file = findFile(ctx, facts.projectId, facts.path)
  if (file === undefined) throw new AppError('not_found', 'There is no such file', { code: 'FILE_NOT_FOUND' })
  return serveStoredFile(ctx, request, file, {
    cacheControl: `private, max-age=${Math.floor(Math.min(restMs, HOUR_MS) / 1000)}`,
    ...(facts.filename === null ? {} : { disposition: attachmentNamed(facts.filename) }),
  })
}

const refused = (code: 'FILE_URL_INVALID' | 'FILE_URL_EXPIRED', message: string): AppError =>
  new AppError('forbidden', message, { code })
