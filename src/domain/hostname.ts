import { formatIp, parseIp } from './ip-ranges.ts'
import { parseWebUrl } from './web-url.ts'

const MAX_LABEL = 63
const MAX_HOST = 253
const CUT_LABEL = 54
const REF_LENGTH = 12

/**
 * Normalises the `Host` header for comparison: lower case, no port, no trailing dot; IPv6 canonical and in brackets.
 * Null if it is missing or malformed. contract §1: Hosts.
 */
export function normalizeHost(hostHeader: string | null): string | null {
  if (hostHeader === null) return null
  if (hostHeader.startsWith('[')) return normalizeIpv6Host(hostHeader)

  const colon = hostHeader.indexOf(':')
  if (colon !== -1 && !isPort(hostHeader, colon + 1)) return null
  let end = colon === -1 ? hostHeader.length : colon
  if (hostHeader.charCodeAt(end - 1) === 0x2e) end -= 1
  const spelling = spellingOf(hostHeader, end)
  if (spelling === 'malformed') return null
  const host = end === hostHeader.length ? hostHeader : hostHeader.slice(0, end)
  return spelling === 'mixed' ? host.toLowerCase() : host
}

const HOST_FIELD = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d*)?$/i

/** Whether a text can be the value of a `Host` field. Two fields arrive as `a, b`, which cannot. RFC 9112 §3.2. */
export const isHostField = (text: string): boolean => HOST_FIELD.test(text)

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

/** Whether a lower-case text can be a host name: labels of letters, digits and inner hyphens. RFC 1123 §2.1. */
export const isHostName = (text: string): boolean => HOST_NAME.test(text)

/**
 * The host name as the DNS and browsers have it: lower case, without a trailing dot, names in other scripts as A-labels
 * (UTS #46). Null for anything else. An IPv4 address in any notation is returned as one.
 */
export function asciiHost(text: string): string | null {
  const isBare = /^[^\s/@:?#%\\[\]]+$/.test(text)
  const url = isBare ? parseWebUrl(`http://${text}`) : null
  const host = normalizeHost(url?.hostname ?? null)
  return host !== null && isHostName(host) ? host : null
}

/**
 * Whether browsers read the name as an IPv4 address because its last label is a number: digits, or `0x` and hex. URL
 * Standard, "ends in a number checker".
 */
export const endsInNumber = (text: string): boolean =>
  /(^|\.)(\d+|0x[\da-f]*)\.?$/i.test(text.normalize('NFKC'))

/**
 * Whether a label may be mapped below the base domain: `--` is for the hosts of aliases, and in `xn--` for a valid A-label
 * (RFC 5890 §2.3.2.1) whose Unicode form has none. contract 12.10.
 */
export function isMappableLabel(label: string): boolean {
  if (!label.includes('--')) return true
  if (!label.startsWith('xn--')) return false
  const unicode = process.getBuiltinModule('node:url').domainToUnicode(label)
  return !unicode.includes('--') && asciiHost(unicode) === label
}

/** Whether a normalised host is an IP address: IPv6, or IPv4 with four decimal parts. */
export function isIpLiteral(host: string): boolean {
  const first = host.charCodeAt(0)
  if (first === 0x5b || host.includes(':')) return parseIp(host)?.version === 6
  if (!(first >= 0x30 && first <= 0x39)) return false
  const ip = parseIp(host)
  return ip !== null && formatIp(ip) === host
}

/** The single label in front of the base domain in a normalised host; null if there is none or more than one. */
export function siteLabelOf(host: string, baseDomain: string): string | null {
  const end = host.length - baseDomain.length - 1
  if (end < 1 || host.charCodeAt(end) !== 0x2e || !host.endsWith(baseDomain)) return null
  return host.indexOf('.') === end ? host.slice(0, end) : null
}

/**
 * The label of an alias or deployment host. `ref` is the alias name, `deploymentRef(commitSha)` or `versionRef(…)`. contract
 * §1: Hosts.
 */
export function hostLabel(parts: { ref: string; repo: string; owner: string }): string {
  const label = [parts.ref, parts.repo, parts.owner].map(labelPart).join('--')
  return label.length > MAX_LABEL ? cutLabel(label) : label
}

/** The start of a deployment host: the first 12 digits of the commit SHA. */
export function deploymentRef(commitSha: string): string {
  return commitSha.slice(0, REF_LENGTH).toLowerCase()
}

/** The start of the host of one version of a commit. contract 16 §1. */
export const versionRef = (commitSha: string, version: number): string =>
  `${deploymentRef(commitSha)}-v${version}`

/**
 * The label for a site whose own `label` is taken. If the result is taken too, call it again with the result. contract
 * §1: Hosts.
 */
export function clashLabel(label: string): string {
  return cutLabel(label)
}

function cutLabel(label: string): string {
  const digest = new Bun.CryptoHasher('sha256').update(label).digest('hex')
  return `${label.slice(0, CUT_LABEL)}-${digest.slice(0, 8)}`
}

function labelPart(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

function normalizeIpv6Host(header: string): string | null {
  const close = header.indexOf(']')
  const rest = close + 1
  if (rest < header.length && (header.charCodeAt(rest) !== 0x3a || !isPort(header, rest + 1))) return null
  const ip = header.includes('%') ? null : parseIp(header.slice(0, rest))
  return ip?.version === 6 ? `[${formatIp(ip)}]` : null
}

/**
 * Digits up to 65535, or nothing, as RFC 3986 §3.2.3 allows. At most five digits, so that a host has a limited number
 * of spellings.
 */
function isPort(header: string, from: number): boolean {
  if (header.length - from > 5) return false
  let port = 0
  for (let i = from; i < header.length; i++) {
    const digit = header.charCodeAt(i) - 0x30
    if (!(digit >= 0 && digit <= 9)) return false
    port = port * 10 + digit
    if (port > 65_535) return false
  }
  return true
}

/**
 * Checks labels of 1 to 63 letters, digits, `-` and `_`, separated by dots, up to `end`. A single pass, as it runs for
 * every request.
 */
function spellingOf(host: string, end: number): 'lower' | 'mixed' | 'malformed' {
  if (end < 1 || end > MAX_HOST) return 'malformed'
  let labelStart = 0
  let spelling: 'lower' | 'mixed' = 'lower'
  for (let i = 0; i < end; i++) {
    const code = host.charCodeAt(i)
    if (code >= 0x61 && code <= 0x7a) continue
    if (code === 0x2e) {
      if (i === labelStart || i - labelStart > MAX_LABEL) return 'malformed'
      labelStart = i + 1
    } else if (code >= 0x41 && code <= 0x5a) spelling = 'mixed'
    else if (!(code >= 0x30 && code <= 0x39) && code !== 0x2d && code !== 0x5f) return 'malformed'
  }
  return end === labelStart || end - labelStart > MAX_LABEL ? 'malformed' : spelling
}
