import { OWN_COOKIES } from './cookies.ts'
import { holdsKey } from './key-header.ts'
import { foldedName, isClaim, isOursToSay } from './visitor-claims.ts'

/** A name with several values appears in several pairs. */
export type HeaderPair = [name: string, value: string]

/** `add` holds values in clear text. Names are case-insensitive. contract §8. */
export type HeaderConfig = {
  add?: Readonly<Record<string, string>> | undefined
  forward?: readonly string[] | undefined
  strip?: readonly string[] | undefined
}

export type ForwardOptions = {
  config: HeaderConfig | null
  forwardCookies: boolean
  preserveHost: boolean
  /** The address at the other end of the connection: the client itself, or a trusted proxy. */
  peerAddress: string
  /** Whether the peer is in `TRUST_PROXY`, so that what it says about the visitor counts. */
  isTrustedPeer: boolean
  /** The `X-Forwarded-For` sent by a peer in `TRUST_PROXY`; null from any other peer. */
  trustedXff: string | null
  /** The visitor's scheme and Host, as determined by the front door. */
  proto: 'http' | 'https'
  host: string
}

/**
 * Never forwarded, in either direction. RFC 9110 §7.6.1. `expect` is included because the server has already handled
 * it. `content-length` is not, because bodies are forwarded unchanged.
 */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
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

/** The service sets these itself. `forwarded` carries the same facts in another form, unverified. */
const OWN: ReadonlySet<string> = new Set([
  'forwarded',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
])

/** From every peer: what the service says about the visitor itself, in any spelling. */
const ALWAYS_OURS: ReadonlySet<string> = new Set([...OWN].filter((name) => name !== 'host'))

/** Names of ours and of the message's framing, which some backends also read in other spellings. */
const NEVER_IN_ANOTHER_SPELLING: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'authorization',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'x-api-key',
])

/** Request headers that are never forwarded. An API key is meant for us alone. */
const NEVER_SENT: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...OWN, 'x-api-key'])

/**
 * Instructions to nginx, Apache, lighttpd or Perlbal in front of us, for example to send one of its own files. Only the
 * operator may give them, not whoever made the site. `x-accel-buffering` is harmless.
 */
const ORDERS_TO_THE_FRONT: ReadonlySet<string> = new Set([
  'x-accel-charset',
  'x-accel-expires',
  'x-accel-limit-rate',
  'x-accel-redirect',
  'x-lighttpd-send-file',
  'x-reproxy-file',
  'x-reproxy-url',
  'x-sendfile',
  'x-sendfile2',
])

const OWN_NAMES: ReadonlySet<string> = new Set(OWN_COOKIES.map((name) => name.toLowerCase()))
const NO_NAMES: ReadonlySet<string> = new Set()

/**
 * The headers for the backend, names in lower case. `host` is included only with `preserveHost` (or if `add` sets it);
 * otherwise the target's host is sent. spec: Proxy behaviour 5, contract §8.
 */
export function requestHeadersToForward(
  visitorHeaders: Iterable<readonly [string, string]>,
  options: ForwardOptions,
): HeaderPair[] {
  const policy = policyOf(options.config)
  const headers = visitorHeadersThatPass(visitorHeaders, options, policy)
  for (const own of ownHeaders(options)) if (!policy.replaced.has(own[0])) headers.push(own)
  headers.push(...policy.added)
  return headers
}

/**
 * The backend's headers for the visitor, names in lower case. Cookies lose their `Domain`, so that they stay on the
 * site's own host, and none may replace a session cookie. contract §8. A site may not clear cookies, because browsers
 * would clear those of every site in the workspace, nor give instructions to a proxy in front.
 */
export function responseHeadersToForward(headers: Iterable<readonly [string, string]>): HeaderPair[] {
  const passed: HeaderPair[] = []
  let options = ''
  for (const [rawName, rawValue] of headers) {
    const name = rawName.toLowerCase()
    if (name === 'connection') options += `,${rawValue}`
    if (HOP_BY_HOP.has(name) || ORDERS_TO_THE_FRONT.has(name)) continue
    const value = ownValue(name, rawValue)
    if (value !== null) passed.push([name, value])
  }
  return withoutNamed(passed, options)
}

/** Removes the session cookies from a `Cookie` header; empty if nothing is left. */
export function withoutSessionCookies(cookieHeader: string): string {
  return cookieHeader
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !pair.split(',').some(namesSessionCookie))
    .join('; ')
}

/**
 * What a pipeline sees of the visitor's headers, names in lower case: neither what is meant for us alone (session cookies,
 * the key) nor what a visitor may not say about himself. contract §8, 12.5.
 */
export function requestHeadersToShow(
  visitorHeaders: Iterable<readonly [string, string]>,
  isTrustedPeer: boolean,
): HeaderPair[] {
  const shown: HeaderPair[] = []
  for (const [rawName, rawValue] of visitorHeaders) {
    const name = rawName.toLowerCase()
    const isKey = name === 'x-api-key' || (name === 'authorization' && holdsKey(rawValue))
    if (isKey || isForged(name, isTrustedPeer, NO_POLICY)) continue
    const value = name === 'cookie' ? withoutSessionCookies(rawValue) : rawValue
    if (name !== 'cookie' || value !== '') shown.push([name, value])
  }
  return shown
}

function visitorHeadersThatPass(
  visitorHeaders: Iterable<readonly [string, string]>,
  { forwardCookies, isTrustedPeer }: ForwardOptions,
  policy: Policy,
): HeaderPair[] {
  const passed: HeaderPair[] = []
  let options = ''
  for (const [rawName, rawValue] of visitorHeaders) {
    const name = rawName.toLowerCase()
    if (name === 'connection') options += `,${rawValue}`
    if (NEVER_SENT.has(name) || !mayPass(policy, name) || isForged(name, isTrustedPeer, policy)) continue
    if (name === 'authorization' && holdsKey(rawValue)) continue
    if (name !== 'cookie') passed.push([name, rawValue])
    else if (forwardCookies) {
      const value = withoutSessionCookies(rawValue)
      if (value !== '') passed.push([name, value])
    }
  }
  return withoutNamed(passed, options)
}

/**
 * Whether the header says of the visitor what only a trusted proxy may say, or is another spelling of a name that the
 * service or the rule sets, or that the rule strips: many backends (CGI) read both spellings as one name.
 */
function isForged(name: string, isTrustedPeer: boolean, { strip, replaced }: Policy): boolean {
  const folded = foldedName(name)
  if (ALWAYS_OURS.has(folded) || isOursToSay(folded) || (!isTrustedPeer && isClaim(folded))) return true
  if (strip.has(folded) || replaced.has(folded)) return true
  return folded !== name && NEVER_IN_ANOTHER_SPELLING.has(folded)
}

/** A rule's header settings, with names prepared for comparison. */
type Policy = {
  /** The complete list of forwarded headers; null forwards all except `authorization`. */
  forward: ReadonlySet<string> | null
  /** Folded names. */
  strip: ReadonlySet<string>
  added: readonly HeaderPair[]
  /** The folded names in `added`. */
  replaced: ReadonlySet<string>
}

const NO_POLICY: Policy = { forward: null, strip: NO_NAMES, added: [], replaced: NO_NAMES }
const policies = new WeakMap<HeaderConfig, Policy>()

/** A rule passes the same configuration object with each request, so it is parsed only once. */
function policyOf(config: HeaderConfig | null): Policy {
  if (config === null) return NO_POLICY
  const known = policies.get(config)
  if (known !== undefined) return known
  const added = addedHeaders(config)
  const policy = {
    forward: config.forward === undefined ? null : lowerCaseSet(config.forward),
    strip: foldedSet((config.strip ?? []).filter((name) => name.trim().toLowerCase() !== 'content-length')),
    added,
    replaced: foldedSet(added.map(([name]) => name)),
  }
  policies.set(config, policy)
  return policy
}

/** If given, `forward` is the complete list. The body's length always goes with the body. */
function mayPass({ forward }: Policy, name: string): boolean {
  if (name === 'content-length') return true
  if (name.startsWith(':')) return false
  return forward === null ? name !== 'authorization' : forward.has(name)
}

function ownHeaders({ trustedXff, peerAddress, proto, host, preserveHost }: ForwardOptions): HeaderPair[] {
  const own: HeaderPair[] = [
    ['x-forwarded-for', trustedXff ? `${trustedXff}, ${peerAddress}` : peerAddress],
    ['x-forwarded-proto', proto],
    ['x-forwarded-host', host],
  ]
  return preserveHost ? [['host', host], ...own] : own
}

/** A rule may set any header except those that frame the message. */
function addedHeaders({ add = {} }: HeaderConfig): HeaderPair[] {
  return Object.entries(add)
    .map(([name, value]): HeaderPair => [name.toLowerCase(), value])
    .filter(([name]) => !HOP_BY_HOP.has(name) && name !== 'content-length')
}

/** Headers listed in `Connection` are meant for us alone; most of them are never forwarded anyway. RFC 9110 §7.6.1. */
function withoutNamed(headers: HeaderPair[], connectionOptions: string): HeaderPair[] {
  if (connectionOptions === '') return headers
  const named = lowerCaseSet(connectionOptions.split(','))
  return headers.filter(([name]) => !named.has(name))
}

const foldedSet = (names: readonly string[]): ReadonlySet<string> =>
  names.length === 0 ? NO_NAMES : new Set(names.map(foldedName))

function lowerCaseSet(names: readonly string[]): ReadonlySet<string> {
  return names.length === 0 ? NO_NAMES : new Set(names.map((name) => name.trim().toLowerCase()))
}

/** The part of a value that affects only the site's own host; null if nothing is left. */
function ownValue(name: string, value: string): string | null {
  if (name === 'set-cookie') return hostOnlyCookie(value)
  return name === 'clear-site-data' ? withoutCookies(value) : value
}

/** `"cookies"` clears those of the host's whole domain, and `"*"` includes them. W3C Clear Site Data §3.1. */
function withoutCookies(clearSiteData: string): string | null {
  const types = clearSiteData.split(',').map((type) => type.trim())
  const kept = types.flatMap((type) =>
    type === '"*"' ? ['"cache"', '"storage"'] : type === '"cookies"' ? [] : [type],
  )
  return kept.length === 0 ? null : [...new Set(kept)].join(', ')
}

/** Null if the cookie is named like a session cookie. RFC 6265 §4.1. */
function hostOnlyCookie(setCookie: string): string | null {
  const [pair = '', ...attributes] = setCookie.split(';')
  if (namesSessionCookie(pair)) return null
  const kept = attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute))
  return [pair, ...kept].join(';')
}

/**
 * Whether a browser would send `pair` as one of the session cookies. A browser sends `=sAccessToken=x`, a cookie
 * without a name, as `sAccessToken=x`. Ignores case, because some backends and proxies do.
 */
function namesSessionCookie(pair: string): boolean {
  const start = pair.search(/[^\s=]/)
  if (start === -1) return false
  const equals = pair.indexOf('=', start)
  const name = equals === -1 ? pair.slice(start) : pair.slice(start, equals)
  return OWN_NAMES.has(name.trim().toLowerCase())
}
