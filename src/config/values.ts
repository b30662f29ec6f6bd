import { normalEmail } from '../domain/email.ts'
import { asciiHost, endsInNumber, isHostName } from '../domain/hostname.ts'
import { type Cidr, formatIp, parseCidr, parseCidrList, parseIp } from '../domain/ip-ranges.ts'
import { isRecord } from '../domain/is-record.ts'
import { passwordFlaw } from '../domain/password-rule.ts'

/** The parsed value of a setting, or what was expected: it completes "but must be ...". */
export type Parsed<T> = { value: T } | { expected: string }

/** An OpenID provider for sign-in. `issuer` is written as in its discovery document. */
export type OidcProvider = {
  id: string
  displayName: string
  issuer: string
  clientId: string
  clientSecret: string
  scopes: readonly string[]
  /** An email without `email_verified` counts as verified: the provider has checked it before. contract 12.7. */
  trustEmail?: boolean
}

/** A setting whose default does not depend on others. */
export type PlainOption<T> = {
  env: string
  help: string
  /** As shown by `svc help serve`. */
  shownDefault: string
  /** The value is never shown in messages. */
  secret?: boolean
  fallback: () => T
  parse: (text: string) => Parsed<T>
}

const ok = <T>(value: T): Parsed<T> => ({ value })

export const text = (text: string): Parsed<string> =>
  text === '' ? { expected: 'a non-empty text' } : ok(text)

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): Parsed<number> => {
    const value = Number(text)
    return /^\d+$/.test(text) && value >= min && value <= max
      ? ok(value)
      : { expected: `a whole number from ${min} to ${max}` }
  }

const UNITS: Record<string, number> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }

export function byteSize(text: string): Parsed<number> {
  const match = /^(\d{1,15})\s*([kmgt]?)i?b?$/i.exec(text)
  const value = Number(match?.[1]) * (UNITS[match?.[2]?.toLowerCase() ?? ''] ?? Number.NaN)
  return Number.isSafeInteger(value) && value > 0
    ? ok(value)
    : { expected: 'a number of bytes above 0, such as 2147483648 or 2GiB' }
}

export const byteSizeFrom =
  (min: number, max?: number) =>
  (text: string): Parsed<number> => {
    const size = byteSize(text)
    if ('value' in size && size.value >= min && (max === undefined || size.value <= max)) return size
    const upTo = max === undefined ? '' : ` to ${max}`
    return { expected: `a number of bytes from ${min}${upTo}, such as ${2 * min}` }
  }

export const oneOf =
  <T extends string>(...allowed: readonly T[]) =>
  (text: string): Parsed<T> => {
    const value = allowed.find((one) => one === text)
    return value === undefined ? { expected: `one of ${allowed.join(', ')}` } : ok(value)
  }

export function boolean(text: string): Parsed<boolean> {
  if (/^(true|1|yes|on)$/i.test(text)) return ok(true)
  if (/^(false|0|no|off)$/i.test(text)) return ok(false)
  return { expected: 'true or false' }
}

export function hostName(text: string): Parsed<string> {
  if (endsInNumber(text))
    return {
      expected:
        'a host name whose last part is no number, since browsers take that for an address: such as 10-0-0-5.nip.io, which leads to 10.0.0.5',
    }
  const host = asciiHost(text)
  return host === null
    ? { expected: 'a host name without scheme or port, such as sites.example.com' }
    : ok(host)
}

export function listenAddress(text: string): Parsed<string> {
  // A host name never ends in a number (RFC 1123 §2.1), so this would be an invalid IP address.
  const isName = isHostName(text.toLowerCase()) && !/(^|\.)\d+$/.test(text)
  return isName || parseIp(text) !== null
    ? ok(text)
    : { expected: 'an address or a host name of this machine, such as 127.0.0.1' }
}

const TARGET = /^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?)(:(?<port>\d{1,5}))?$/

export function targetList(text: string): Parsed<string[]> {
  const targets = text
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== '')
    .map(asciiTarget)
  const isTarget = (one: string) => {
    const match = TARGET.exec(one)
    return parseCidr(one) !== null || (match !== null && Number(match.groups?.['port'] ?? 443) <= 65_535)
  }
  return targets.every(isTarget)
    ? ok(targets)
    : {
        expected:
          'a comma-separated list of hosts, host:port or CIDRs, such as nas.local, db:8443, 10.0.0.0/8',
      }
}

/** Rules reach hosts by their A-labels. Leaves anything but a name in another script as it is. */
function asciiTarget(target: string): string {
  const [, name = '', port = ''] = /^([^:/[\]]+)(:\d+)?$/.exec(target) ?? []
  return /\P{ASCII}/u.test(name) ? `${asciiHost(name) ?? name}${port}` : target
}

export function publicUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    url.search === '' &&
    url.username === ''
  return isPlain
    ? ok(url.origin)
    : { expected: 'scheme, host and port only, such as https://admin.example.com' }
}

export const httpsUrl = (text: string): Parsed<string> =>
  isHttpsUrl(text) ? ok(text) : { expected: 'an address that starts with https://' }

export function cidrList(text: string): Parsed<Cidr[]> {
  const value = parseCidrList(text)
  return value === null
    ? { expected: 'a comma-separated list of CIDRs, such as 10.0.0.0/8, ::1/128' }
    : ok(value)
}

/** IP addresses, as they are written in DNS records. */
export function addressList(text: string): Parsed<string[]> {
  const addresses = text.split(',').map((one) => parseIp(one.trim()))
  return addresses.includes(null)
    ? { expected: 'a comma-separated list of IP addresses, such as 203.0.113.7, 2001:db8::7' }
    : ok(addresses.flatMap((one) => (one === null ? [] : [formatIp(one)])))
}

export function secretKey(text: string): Parsed<string> {
  const isKey = /^[A-Za-z0-9+/_-]+=*$/.test(text) && Buffer.from(text, 'base64').length === 32
  return isKey ? ok(text) : { expected: '32 bytes in base64 (openssl rand -base64 32)' }
}

export function email(text: string): Parsed<string> {
  const value = normalEmail(text)
  return value === null ? { expected: 'an email address' } : ok(value)
}

export function password(text: string): Parsed<string> {
  const flaw = passwordFlaw(text)
  return flaw === null ? ok(text) : { expected: flaw }
}

export const smtpUrl = (text: string): Parsed<string> =>
  URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol)
    ? ok(text)
    : { expected: 'smtp://user:password@host:587 or smtps://…' }

const PROVIDER_ID = /^[a-z0-9][a-z0-9-]{0,31}$/

export function oidcProviders(text: string): Parsed<OidcProvider[]> {
  const expected =
    'a JSON list of { id, displayName, issuer, clientId, clientSecret, scopes?, trustEmail? }: ids of a-z, 0-9 and -, each once; issuers with https'
  try {
    const list: unknown = JSON.parse(text)
    const providers = Array.isArray(list) ? list.map(oidcProvider) : [null]
    const good = providers.filter((provider) => provider !== null)
    const ids = new Set(good.map(({ id }) => id))
    return good.length === providers.length && ids.size === good.length ? ok(good) : { expected }
  } catch {
    return { expected }
  }
}

function oidcProvider(entry: unknown): OidcProvider | null {
  if (!isRecord(entry)) return null
  const { id, displayName, issuer, clientId, clientSecret, scopes, trustEmail = false } = entry
  const texts = [id, displayName, issuer, clientId, clientSecret]
  if (!texts.every((one): one is string => typeof one === 'string' && one !== '')) return null
  const given = scopes ?? ['openid', 'email', 'profile']
  if (
    typeof trustEmail !== 'boolean' ||
    !isTextList(given) ||
    !PROVIDER_ID.test(String(id)) ||
    !isHttpsUrl(String(issuer))
  )
    return null
  return {
    id: String(id),
    displayName: String(displayName),
    issuer: String(issuer),
    clientId: String(clientId),
    clientSecret: String(clientSecret),
    // Without `openid` the provider returns no ID token.
    scopes: [...new Set(['openid', ...given])],
    ...(trustEmail && { trustEmail }),
  }
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

const isHttpsUrl = (text: string): boolean =>
  URL.canParse(text) && new URL(text).protocol === 'https:' && new URL(text).search === ''
