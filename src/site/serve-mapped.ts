import { AppError } from '../domain/errors.ts'
import { errorResponse } from '../http/error-response.ts'
import type { Place } from './resolve-site.ts'

/** Where a host shows that it leads here: the answer is the challenge. contract §10. */
const CHALLENGE_PATH = '/.well-known/svc-challenge/'

/** A mapped host that shows no site: it leads elsewhere, or nobody has proven that it is theirs. */
export function serveMapped(
  place: Extract<Place, { kind: 'redirect' | 'unproven' }>,
  { path, search }: { path: string; search: string },
): Response {
  if (place.kind === 'redirect')
    return new Response(null, {
      status: 308,
      headers: { location: `${place.to}${path}${search}`, 'cache-control': 'public, max-age=300' },
    })
  if (path === `${CHALLENGE_PATH}${place.challenge}`)
    return new Response(place.challenge, {
      headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    })
  return errorResponse(
    new AppError(
      'misdirected',
      `Nobody has proven yet that ${place.host} is theirs, so nothing is shown here.`,
    ),
  )
}
