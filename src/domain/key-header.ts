/** How an API key is recognised. contract 12.8. */
export const KEY_PREFIX = 'svc_'

/** How the token of `svc login` is recognised: it is sent as a key is. contract 16 §7. */
export const CLI_PREFIX = 'svcp_'

/** The case of the scheme does not matter. RFC 9110 §11.1. */
const BEARER = /^bearer +(\S+)$/i

/** Such a key anywhere in a value, also of several that were joined with commas. */
const BEARER_KEY = new RegExp(`(?:^|[\\s,])[Bb][Ee][Aa][Rr][Ee][Rr]\\s+(?:${KEY_PREFIX}|${CLI_PREFIX})`)

/** The key that `Authorization` carries; null for other schemes and for tokens that are no keys. */
export function keyOfAuthorization(value: string | null): string | null {
  const token = value === null ? undefined : BEARER.exec(value)?.[1]
  return token?.startsWith(KEY_PREFIX) || token?.startsWith(CLI_PREFIX) ? token : null
}

/** Whether a value of `Authorization` holds what must not leave the service. Wider than what counts as a key. */
export const holdsKey = (authorization: string): boolean => BEARER_KEY.test(authorization)

/** The key of a request: `X-API-Key`, else a bearer token that is one. Null if it sends none. */
export const sentKey = (headers: Headers): string | null =>
  headers.get('x-api-key') ?? keyOfAuthorization(headers.get('authorization'))
