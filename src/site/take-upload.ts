import type { Context } from '../context.ts'
import { storeRefusal } from '../db/shipped.ts'
import { AppError } from '../domain/errors.ts'
import type { Arrival } from '../http/arrival.ts'
import { arrivingBody } from '../http/upload-progress.ts'
import { fileKey } from '../modules/files/keys.ts'
import {
  fileTooLarge,
  keepFile,
  refuseBeyondRoom,
  type StagedFile,
  stageFile,
} from '../modules/files/service.ts'
import { type IssuedUpload, readUploadToken, refuseSpent } from '../modules/files/tokens.ts'
import { isAllowedType, typeOfFile } from '../modules/files/types.ts'
import { findProjectById, type Project } from '../modules/projects/service.ts'
import type { ByteStream } from '../platform/byte-stream.ts'
import { etagOf } from './site-file.ts'

/** Stores what a PUT brings at the path of its token. `projectId`: of the site that is asked. contract 14.4. */
export async function takeUpload(
  ctx: Context,
  { request, search, peer }: Arrival,
  projectId: string | null,
): Promise<Response> {
  if (request.method !== 'PUT')
    throw new AppError('method_not_allowed', 'Use PUT', { headers: { allow: 'PUT' } })
  const { facts, project } = allowedBy(ctx, new URLSearchParams(search).get('token') ?? '', projectId)
  refuseSpent(ctx, facts)
  const refusal = storeRefusal(ctx)
  if (refusal !== null) throw refusal
  const size = statedSize(request)
  const { path } = facts
  const maxBytes = Math.min(facts.maxBytes, ctx.config.maxUploadBytes)
  if (size > maxBytes) throw fileTooLarge(maxBytes)
  refuseBeyondRoom(ctx, project.id, { size, path })
  const contentType = allowedType(request, facts)
  const body = arrivingBody(request) ?? NOTHING
  const staged = await stageFile(ctx, project.id, body, { maxBytes, statedBytes: size, path })
  peer.allowSilence?.(true)
  try {
    await refuseOtherSize(staged, size)
    const file = { projectId: project.id, path, contentType, isRegistered: false }
    await keepFile(ctx, file, staged, () => refuseSpent(ctx, facts))
  } finally {
    peer.allowSilence?.(false)
  }
  return Response.json(
    { storageKey: fileKey(project, path), size, contentType },
    { headers: { etag: etagOf(staged.sha256), 'cache-control': 'no-store' } },
  )
}

type Allowed = { facts: IssuedUpload; project: Project }

function allowedBy(ctx: Context, token: string, projectId: string | null): Allowed {
  if (token === '') throw new AppError('invalid', 'The address has no token: use it as it was given')
  const facts = readUploadToken(ctx, token)
  const isOfSite = projectId === null || projectId === facts?.projectId
  const project = facts !== undefined && isOfSite ? findProjectById(ctx, facts.projectId) : undefined
  if (facts === undefined || project === undefined)
    throw refused('UPLOAD_URL_INVALID', 'This upload address is none of this site, or was changed')
  if (facts.endsAt <= ctx.now())
    throw refused('UPLOAD_URL_EXPIRED', 'This upload address has ended; ask for a new one')
  return { facts, project }
}

/** The runtime refuses what is no number. */
function statedSize({ headers }: Request): number {
  const length = headers.get('content-length')
  if (length === null || headers.has('transfer-encoding'))
    throw new AppError('length_required', 'Send the size of the file as Content-Length')
  return Number(length)
}

function allowedType({ headers }: Request, { path, types }: IssuedUpload): string {
  const declared = headers.get('content-type')
  const type = typeOfFile(declared, path)
  if (types !== null && !isAllowedType(types, declared, path))
    throw new AppError('unsupported_media_type', `A file of the type ${type} is not taken here`, {
      code: 'INVALID_MIME_TYPE',
    })
  return type
}

async function refuseOtherSize(staged: StagedFile, size: number): Promise<void> {
  if (staged.size === size) return
  await staged.discard()
  throw new AppError('invalid', `The body has ${staged.size} bytes, not the ${size} that were stated`)
}

const NOTHING: ByteStream = { async *[Symbol.asyncIterator]() {} }

const refused = (code: 'UPLOAD_URL_INVALID' | 'UPLOAD_URL_EXPIRED', message: string): AppError =>
  new AppError('forbidden', message, { code })
