export const ACCESS_COOKIE = 'sAccessToken'
export const REFRESH_COOKIE = 'sIdRefreshToken'

export const SESSION_COOKIES: readonly string[] = [ACCESS_COOKIE, REFRESH_COOKIE]

/** By which an account knows a browser again. contract 16 §5. */
export const DEVICE_COOKIE = 'svc_device'

/** Cookies of a sign-in on its way: to a provider, and to a host that the session's cookies do not reach. */
type PassingCookie = 'svcOidc' | 'svcBrowser'
const PASSING_COOKIES: readonly PassingCookie[] = ['svcOidc', 'svcBrowser']

/** Over HTTPS no other host can set a cookie of that name. RFC 6265bis §4.1.3.2, contract 12.7. */
const passingName = (name: PassingCookie, isSecure: boolean): string => (isSecure ? `__Host-${name}` : name)

/** How a person wants to see what changed in a file. contract 17.4. */
export const COMPARE_VIEW_COOKIE = 'svc_compare_view'

/** Our own cookies, which are never forwarded to backends. */
export const OWN_COOKIES: readonly string[] = [
  ...SESSION_COOKIES,
  DEVICE_COOKIE,
  COMPARE_VIEW_COOKIE,
  ...PASSING_COOKIES.flatMap((name) => [passingName(name, false), passingName(name, true)]),
]

/**
 * All values of that name, in the order sent: a sibling site can add a second one. RFC 6265 §4.2. A name followed by a
 * space is a different name, because `hasSessionCookie` must recognise everything that counts as a session here.
 */
export function cookieValues(header: string | null, name: string): string[] {
  if (header === null || !header.includes(name)) return []
  const values: string[] = []
  for (const pair of header.split(';')) {
    const cut = pair.indexOf('=')
    if (cut > 0 && pair.slice(0, cut).trimStart() === name) values.push(pair.slice(cut + 1).trim())
  }
  return values
}

/** The names in a `Cookie` header, each once, as a browser would send them back. */
export function cookieNames(header: string | null): string[] {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  const names = pairs.map((pair) => (pair.includes('=') ? pair.slice(0, pair.indexOf('=')).trim() : ''))
  return [...new Set(names)].filter((name) => name !== '')
}

export const hasSessionCookie = (header: string | null): boolean =>
  header !== null && (header.includes(`${ACCESS_COOKIE}=`) || header.includes(`${REFRESH_COOKIE}=`))

/**
 * `domain` null makes the cookie host-only, `path` limits it to that path and below, and `maxAgeSeconds` 0 removes it.
 * RFC 6265 §4.1.
 */
export function setCookie(
  name: string,
  value: string,
  options: { domain: string | null; path?: string; maxAgeSeconds: number; isSecure: boolean },
): string {
  const { path = '/', maxAgeSeconds } = options
  const domain = options.domain === null ? '' : `; Domain=${options.domain}`
  const secure = options.isSecure ? '; Secure' : ''
  return `${name}=${value}${domain}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`
}

/** Sets such a cookie for this host; over HTTP for `path` alone, which is what the name would not allow over HTTPS. */
export const setPassingCookie = (
  name: PassingCookie,
  value: string,
  { path, ...options }: { path: string; maxAgeSeconds: number; isSecure: boolean },
): string => {
  const { isSecure } = options
  return setCookie(passingName(name, isSecure), value, {
    ...options,
    domain: null,
    path: isSecure ? '/' : path,
  })
}

/** The values of such a cookie; over HTTPS those of the plain name do not count. */
export const passingValues = (header: string | null, name: PassingCookie, isSecure: boolean): string[] =>
  cookieValues(header, passingName(name, isSecure))
