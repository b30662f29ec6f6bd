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

/** Of what a visitor sends; a key of ours is for us alone. */
const NEVER_SENT: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...OWN, 'x-api-key'])

/**
 * Orders to nginx, Apache, lighttpd or Perlbal in front of us, such as to send one of its own files: those are the
 * operator's to give, and not those of whoever made the site. `x-accel-buffering` harms nobody.
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
  const policy = policyOf(options.config)
  const headers = visitorHeadersThatPass(visitorHeaders, options, policy)
  for (const own of ownHeaders(options)) if (!policy.replaced.has(own[0])) headers.push(own)
  headers.push(...policy.added)
  return headers
}

/**
 * What the visitor gets of a backend's headers, names in lower case: cookies lose their `Domain`, so that
 * they stay on the site's own host, and none may take the place of a session cookie. contract §8. Nor may a site clear
 * cookies, as browsers would clear those of all sites of the workspace, or give orders to a proxy in front.
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

/** A `Cookie` header without the session's cookies; empty when nothing is left. */
export function withoutSessionCookies(cookieHeader: string): string {
  return cookieHeader
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !pair.split(',').some(namesSessionCookie))
    .join('; ')
}

function visitorHeadersThatPass(
  visitorHeaders: Iterable<readonly [string, string]>,
  { forwardCookies }: ForwardOptions,
  policy: Policy,
): HeaderPair[] {
  const passed: HeaderPair[] = []
  let options = ''
  for (const [rawName, rawValue] of visitorHeaders) {
    const name = rawName.toLowerCase()
    if (name === 'connection') options += `,${rawValue}`
    if (isTwin(name, policy) || NEVER_SENT.has(name) || !mayPass(policy, name)) continue
    if (name !== 'cookie') passed.push([name, rawValue])
    else if (forwardCookies) {
      const value = withoutSessionCookies(rawValue)
      if (value !== '') passed.push([name, value])
    }
  }
  return withoutNamed(passed, options)
}

/**
 * Many backends read `x_forwarded_for` and `x-forwarded-for` as one name (CGI): a visitor must not put a second value
 * beside what the service or the rule says, nor in the place of what the rule takes away.
 */
function isTwin(name: string, { strip, replaced }: Policy): boolean {
  if (!UNUSUAL.test(name)) return false
  const twin = name.replaceAll(UNUSUAL_ALL, '-')
  return NEVER_SENT.has(twin) || replaced.has(twin) || strip.has(twin)
}

const UNUSUAL = /[^a-z0-9-]/
const UNUSUAL_ALL = /[^a-z0-9-]/g

/** What a rule says of headers, with its names ready to be compared. */
type Policy = {
  /** The whole list of what passes; null passes all but `authorization`. */
  forward: ReadonlySet<string> | null
  strip: ReadonlySet<string>
  added: readonly HeaderPair[]
  /** The names of those. */
  replaced: ReadonlySet<string>
}

const NO_POLICY: Policy = { forward: null, strip: NO_NAMES, added: [], replaced: NO_NAMES }
const policies = new WeakMap<HeaderConfig, Policy>()

/** A rule hands in the same configuration for each of its requests, and it is read once. */
function policyOf(config: HeaderConfig | null): Policy {
  if (config === null) return NO_POLICY
  const known = policies.get(config)
  if (known !== undefined) return known
  const added = addedHeaders(config)
  const policy = {
    forward: config.forward === undefined ? null : lowerCaseSet(config.forward),
    strip: lowerCaseSet(config.strip ?? []),
    added,
    replaced: new Set(added.map(([name]) => name)),
  }
  policies.set(config, policy)
  return policy
}

/** `forward`, where given, is the whole list; the length of the body belongs to the body and goes with it. */
function mayPass({ forward, strip, replaced }: Policy, name: string): boolean {
  if (replaced.has(name)) return false
  if (name === 'content-length') return true
  if (name.startsWith(':') || strip.has(name)) return false
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

/** A rule may set any header, but for those that frame the message. */
function addedHeaders({ add = {} }: HeaderConfig): HeaderPair[] {
  return Object.entries(add)
    .map(([name, value]): HeaderPair => [name.toLowerCase(), value])
    .filter(([name]) => !HOP_BY_HOP.has(name) && name !== 'content-length')
}

/** What a sender lists in `Connection` is meant for us alone; mostly it is what never passes anyway. RFC 9110 §7.6.1. */
function withoutNamed(headers: HeaderPair[], connectionOptions: string): HeaderPair[] {
  if (connectionOptions === '') return headers
  const named = lowerCaseSet(connectionOptions.split(','))
  return headers.filter(([name]) => !named.has(name))
}

function lowerCaseSet(names: readonly string[]): ReadonlySet<string> {
  return names.length === 0 ? NO_NAMES : new Set(names.map((name) => name.trim().toLowerCase()))
}

/** What of a value concerns the site's own host alone; null for none of it. */
function ownValue(name: string, value: string): string | null {
  if (name === 'set-cookie') return hostOnlyCookie(value)
  return name === 'clear-site-data' ? withoutCookies(value) : value
}

/** `"cookies"` of a host are those of its whole domain, and `"*"` names them too. W3C Clear Site Data §3.1. */
function withoutCookies(clearSiteData: string): string | null {
  const types = clearSiteData.split(',').map((type) => type.trim())
  const kept = types.flatMap((type) =>
    type === '"*"' ? ['"cache"', '"storage"'] : type === '"cookies"' ? [] : [type],
  )
  return kept.length === 0 ? null : [...new Set(kept)].join(', ')
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
