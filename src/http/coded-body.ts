import { AppError } from '../domain/errors.ts'

/** Throws 415 for a body with a `Content-Encoding`, which nothing here decodes. RFC 9110 §15.5.16. */
export function refuseCoded(request: Request): void {
  const codings = request.headers.get('content-encoding')
  if (codings === null || codings.split(',').every(isIdentity) || request.body === null) return
  throw new AppError(
    'unsupported_media_type',
    `The body has Content-Encoding: ${codings.slice(0, 100)}. Send it without.`,
    { headers: { 'accept-encoding': 'identity' } },
  )
}

const isIdentity = (coding: string): boolean => ['', 'identity'].includes(coding.trim().toLowerCase())
