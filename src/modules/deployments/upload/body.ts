import type { Context } from '../../../context.ts'
import { AppError } from '../../../domain/errors.ts'
import { arrivingBody } from '../../../http/upload-progress.ts'
import { type ByteStream, tooLarge } from '../../../platform/byte-stream.ts'

/** The body as a stream; null if there is none. Refuses at once a body whose stated length is too large. */
export function uploadBody(ctx: Context, request: Request): ByteStream | null {
  const { maxUploadBytes } = ctx.config
  if (Number(request.headers.get('content-length')) > maxUploadBytes)
    throw tooLarge('The request body', maxUploadBytes)
  return arrivingBody(request)
}

/** The media type of the request, without parameters and in lower case; empty if there is none. */
export function mediaTypeOf(request: Request): string {
  return (request.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** For a body of a type that the route does not read: 400, like other unusable bodies. contract §5.2. */
export function unsupportedType(type: string, readable: string): AppError {
  const given = type === '' ? 'The request has no Content-Type' : `${type} cannot be published`
  return new AppError('invalid', `${given}: send ${readable}`)
}
