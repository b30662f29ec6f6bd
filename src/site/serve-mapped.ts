import { AppError } from '../domain/errors.ts'
import { errorResponse } from '../http/error-response.ts'
import type { Place } from './site.ts'

/** The path that proves that a host leads here: it returns the challenge. contract §10. */
const CHALLENGE_PATH = '/.well-known/svc-challenge/'

/** Serves a mapped host without a site: it redirects, or its ownership is not verified yet. */
export function serveMapped(
  place: Extract<Place, { kind: 'redirect' | 'unproven' }>,
  { path, search }: { path: string; search: string },
): Response {
  if (place.kind === 'redirect')
    return new Response(null, {
      status: 308,
      headers: { location: `${place.to}${path}${search}`, 'cache-control': 'public, max-age=300' },
    })
  if (place.challenge !== null && path === `${CHALLENGE_PATH}${place.challenge}`)
    return new Response(place.challenge, {
      headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    })
  return errorResponse(
    new AppError(
      'misdirected',
      `The ownership of ${place.host} has not been verified yet, so nothing is shown here.`,
    ),
  )
}
