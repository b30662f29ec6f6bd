import { SESSION_COOKIES } from './cookies.ts'

/** Several values of one name are several pairs. */
export type HeaderPair = [name: string, value: string]

/** `add` holds the values in clear. Names count regardless of case. contract §8. */
export type HeaderConfig = {
  add?: Readonly<Record<string, string>> | undefined
  forward?: readonly string[] | undefined
  strip?: readonly string[] | undefined
}

export type ForwardOptions = {
  config: HeaderConfig | null
  forwardCookies: boolean
  preserveHost: boolean
  /** The other end of the connection, which is the client itself unless that end is a trusted proxy. */
  peerAddress: string
  /** The `X-Forwarded-For` that came from a peer in `TRUST_PROXY`; null from anybody else. */
  trustedXff: string | null
  /** The visitor's scheme and Host, as the front door understood them. */
  proto: 'http' | 'https'
  host: string
}

/**
 * Never pass, in either direction. RFC 9110 §7.6.1. `expect` is here because the server has answered it
 * already, and `content-length` is not because bodies pass unchanged.
 */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The service says these itself. `forwarded` says the same in another form, and nobody has checked it. */
const OWN: ReadonlySet<string> = new Set([
  'forwarded',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
])

const SESSION_NAMES: ReadonlySet<string> = new Set(SESSION_COOKIES.map((name) => name.toLowerCase()))
const NO_NAMES: ReadonlySet<string> = new Set()

/**
 * What the backend gets, names in lower case. `host` is there only for `preserveHost` (or where `add` sets
 * it): without it the target's is sent. spec: Proxy behaviour 5, contract §8.
 */
export function requestHeadersToForward(
  visitorHeaders: Iterable<readonly [string, string]>,
  options: ForwardOptions,
): HeaderPair[] {
  const headers = [...visitorHeadersThatPass([...visitorHeaders], options), ...ownHeaders(options)]
  const added = addedHeaders(options.config)
  if (added.length === 0) return headers
  const replaced = new Set(added.map(([name]) => name))
  return [...headers.filter(([name]) => !replaced.has(name)), ...added]
}

/**
 * What the visitor gets of a backend's headers, names in lower case: cookies lose their `Domain`, so that
 * they stay on the site's own host, and none may take the place of a session cookie. contract §8.
 */
export function responseHeadersToForward(headers: Iterable<readonly [string, string]>): HeaderPair[] {
  const all = [...headers]
  const named = namedByConnection(all)
  const passed: HeaderPair[] = []
  for (const [rawName, rawValue] of all) {
    const name = rawName.toLowerCase()
    if (HOP_BY_HOP.has(name) || named.has(name)) continue
    const value = name === 'set-cookie' ? hostOnlyCookie(rawValue) : rawValue
    if (value !== null) passed.push([name, value])
  }
  return passed
}

/** A `Cookie` header without the session's cookies; empty when nothing is left. */
export function withoutSessionCookies(cookieHeader: string): string {
  return cookieHeader
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !pair.split(',').some(namesSessionCookie))
    .join('; ')
}

function visitorHeadersThatPass(
  visitorHeaders: (readonly [string, string])[],
  options: ForwardOptions,
): HeaderPair[] {
  const named = namedByConnection(visitorHeaders)
  const mayPass = visitorFilter(options)
  const passed: HeaderPair[] = []
  for (const [rawName, rawValue] of visitorHeaders) {
    const name = rawName.toLowerCase()
    if (HOP_BY_HOP.has(name) || OWN.has(name) || named.has(name) || !mayPass(name)) continue
    const value = name === 'cookie' ? withoutSessionCookies(rawValue) : rawValue
    if (name !== 'cookie' || value !== '') passed.push([name, value])
  }
  return passed
}

/** `forward`, where given, is the whole list; the length of the body belongs to the body and goes with it. */
function visitorFilter({ config, forwardCookies }: ForwardOptions): (name: string) => boolean {
  const forward = config?.forward === undefined ? null : lowerCaseSet(config.forward)
  const strip = lowerCaseSet(config?.strip ?? [])
  return (name) => {
    if (name === 'content-length') return true
    if (name === 'x-api-key' || name.startsWith(':') || strip.has(name)) return false
    if (name === 'cookie' && !forwardCookies) return false
    return forward === null ? name !== 'authorization' : forward.has(name)
  }
}

function ownHeaders({ trustedXff, peerAddress, proto, host, preserveHost }: ForwardOptions): HeaderPair[] {
  const own: HeaderPair[] = [
    ['x-forwarded-for', trustedXff ? `${trustedXff}, ${peerAddress}` : peerAddress],
    ['x-forwarded-proto', proto],
    ['x-forwarded-host', host],
  ]
  return preserveHost ? [['host', host], ...own] : own
}

/** A rule may set any header, but for those that frame the message. */
function addedHeaders(config: HeaderConfig | null): HeaderPair[] {
  return Object.entries(config?.add ?? {})
    .map(([name, value]): HeaderPair => [name.toLowerCase(), value])
    .filter(([name]) => !HOP_BY_HOP.has(name) && name !== 'content-length')
}

/** What a sender lists in `Connection` is meant for us alone. RFC 9110 §7.6.1. */
function namedByConnection(headers: (readonly [string, string])[]): ReadonlySet<string> {
  const values = headers.filter(([name]) => name.toLowerCase() === 'connection').map(([, value]) => value)
  return lowerCaseSet(values.flatMap((value) => value.split(',')))
}

function lowerCaseSet(names: readonly string[]): ReadonlySet<string> {
  return names.length === 0 ? NO_NAMES : new Set(names.map((name) => name.trim().toLowerCase()))
}

/** Null for a cookie named like the session's. RFC 6265 §4.1. */
function hostOnlyCookie(setCookie: string): string | null {
  const [pair = '', ...attributes] = setCookie.split(';')
  if (namesSessionCookie(pair)) return null
  const kept = attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute))
  return [pair, ...kept].join(';')
}

/**
 * Whether a browser would send `pair` as one of the session's cookies. It sends `=sAccessToken=x`, a cookie
 * without a name, as `sAccessToken=x`. Case is ignored for backends and proxies that do.
 */
function namesSessionCookie(pair: string): boolean {
  const start = pair.search(/[^\s=]/)
  if (start === -1) return false
  const equals = pair.indexOf('=', start)
  const name = equals === -1 ? pair.slice(start) : pair.slice(start, equals)
  return SESSION_NAMES.has(name.trim().toLowerCase())
}
