import { isLoopback, parseIp } from '../domain/ip-ranges.ts'
import { hostName, httpsUrl, oneOf, type Parsed, type PlainOption, text, wholeNumber } from './values.ts'

export type HostPort = { host: string; port: number }
export type DnsProviderName = 'acme-dns' | 'rfc2136' | 'exec' | 'cloudflare' | 'hetzner' | 'persist'
export type TsigAlgorithm = 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512'

/** How the authority is shown by DNS that the base domain is ours. contract 19.5. */
export type AcmeDnsConfig = {
  acmeDns: DnsProviderName | null
  /** `env`: that of this process without svc's own settings. */
  acmeDnsExec: { path: string; env: Record<string, string> } | null
  acmeDnsServer: HostPort | null
  acmeDnsZone: string | null
  acmeDnsTsigName: string | null
  acmeDnsTsigSecret: string | null
  acmeDnsTsigAlgorithm: TsigAlgorithm | null
  acmeDnsUrl: string | null
  acmeDnsToken: string | null
  acmeDnsApi: string | null
  /** Null: those of the system. */
  acmeDnsResolvers: readonly HostPort[] | null
  acmeDnsTimeoutSeconds: number
}

const none = { shownDefault: 'none', fallback: () => null } as const

export const ACME_DNS_OPTIONS: { [K in keyof AcmeDnsConfig]: PlainOption<AcmeDnsConfig[K]> } = {
  acmeDns: {
    ...none,
    env: 'ACME_DNS',
    help: 'with TLS=auto: one certificate for all hosts below BASE_DOMAIN, proven by DNS: acme-dns, rfc2136, exec, cloudflare, hetzner or persist',
    parse: oneOf('acme-dns', 'rfc2136', 'exec', 'cloudflare', 'hetzner', 'persist'),
  },
  acmeDnsExec: {
    ...none,
    env: 'ACME_DNS_EXEC',
    help: 'with ACME_DNS=exec: absolute path of the program, called with present or cleanup, the name and the value',
    parse: (given) =>
      given.startsWith('/') || /^[A-Za-z]:[\\/]/.test(given)
        ? { value: { path: given, env: {} } }
        : { expected: 'an absolute path' },
  },
  acmeDnsServer: {
    ...none,
    env: 'ACME_DNS_SERVER',
    help: 'with ACME_DNS=rfc2136: the name server that takes updates, host or host:port',
    parse: hostPort,
  },
  acmeDnsZone: {
    ...none,
    env: 'ACME_DNS_ZONE',
    help: 'with ACME_DNS=rfc2136: the zone that is updated',
    parse: hostName,
  },
  acmeDnsTsigName: {
    ...none,
    env: 'ACME_DNS_TSIG_NAME',
    help: 'with ACME_DNS=rfc2136: name of the TSIG key',
    parse: keyName,
  },
  acmeDnsTsigSecret: {
    ...none,
    env: 'ACME_DNS_TSIG_SECRET',
    help: 'with ACME_DNS=rfc2136: the TSIG key, in base64',
    secret: true,
    parse: base64Key,
  },
  acmeDnsTsigAlgorithm: {
    ...none,
    env: 'ACME_DNS_TSIG_ALGORITHM',
    help: 'with ACME_DNS=rfc2136: hmac-sha256, hmac-sha384 or hmac-sha512',
    shownDefault: 'hmac-sha256',
    parse: oneOf('hmac-sha256', 'hmac-sha384', 'hmac-sha512'),
  },
  acmeDnsUrl: {
    ...none,
    env: 'ACME_DNS_URL',
    help: 'with ACME_DNS=acme-dns: address of the acme-dns server',
    parse: httpsOrLoopback,
  },
  acmeDnsToken: {
    ...none,
    env: 'ACME_DNS_TOKEN',
    help: 'with ACME_DNS=cloudflare or hetzner: a token that may edit the zone',
    secret: true,
    parse: (given) => (/^[\x21-\x7e]+$/.test(given) ? { value: given } : { expected: 'a token in one line' }),
  },
  acmeDnsApi: {
    ...none,
    env: 'ACME_DNS_API',
    help: 'with ACME_DNS=cloudflare or hetzner: another address of their API',
    shownDefault: "the provider's",
    parse: httpsUrl,
  },
  acmeDnsResolvers: {
    ...none,
    env: 'ACME_DNS_RESOLVERS',
    help: 'with ACME_DNS: the resolvers that have to show the record first, host:port by comma',
    shownDefault: "the system's",
    parse: hostPorts,
  },
  acmeDnsTimeoutSeconds: {
    env: 'ACME_DNS_TIMEOUT_SECONDS',
    help: 'with ACME_DNS: how long they may take for it',
    shownDefault: '120',
    fallback: () => 120,
    parse: wholeNumber(1, 900),
  },
}

type Setting = keyof AcmeDnsConfig
const OF_TSIG = ['acmeDnsServer', 'acmeDnsZone', 'acmeDnsTsigName', 'acmeDnsTsigSecret'] as const
const NEEDED: Record<DnsProviderName, readonly Setting[]> = {
  exec: ['acmeDnsExec'],
  rfc2136: OF_TSIG,
  'acme-dns': ['acmeDnsUrl'],
  cloudflare: ['acmeDnsToken'],
  hetzner: ['acmeDnsToken'],
  persist: [],
}
const ALLOWED: Partial<Record<DnsProviderName, readonly Setting[]>> = {
  rfc2136: ['acmeDnsTsigAlgorithm'],
  cloudflare: ['acmeDnsApi'],
  hetzner: ['acmeDnsApi'],
}
const OF_PROVIDERS: readonly Setting[] = [
  'acmeDnsExec',
  ...OF_TSIG,
  'acmeDnsTsigAlgorithm',
  'acmeDnsUrl',
  'acmeDnsToken',
  'acmeDnsApi',
]

/** One sentence that starts with the variable; null if there is no conflict. */
export function acmeDnsConflict(config: AcmeDnsConfig & { baseDomain: string }): string | null {
  const { acmeDns, baseDomain } = config
  const envOf = (key: Setting) => ACME_DNS_OPTIONS[key].env
  const given = OF_PROVIDERS.filter((key) => config[key] !== null)
  if (acmeDns === null) {
    const [first] = given
    return first === undefined ? null : `ACME_DNS is missing: ${envOf(first)} is set, so say how it is used`
  }
  const missing = NEEDED[acmeDns].find((key) => config[key] === null)
  if (missing !== undefined) return `${envOf(missing)} is missing: ACME_DNS=${acmeDns} needs it`
  const fitting = [...NEEDED[acmeDns], ...(ALLOWED[acmeDns] ?? [])]
  const foreign = given.find((key) => !fitting.includes(key))
  if (foreign !== undefined)
    return `${envOf(foreign)} is set, but does nothing with ACME_DNS=${acmeDns}: remove one of the two`
  if (!baseDomain.includes('.'))
    return `BASE_DOMAIN is "${baseDomain}", but with ACME_DNS must be a full domain name, such as sites.example.com`
  return null
}

/** `host`, `host:port`, `address`, `[address]:port`. */
function hostPort(given: string): Parsed<HostPort> {
  const [, v6, name, port = '53'] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(given) ?? []
  const host = v6 ?? name ?? given
  const isHost = parseIp(host) !== null || (v6 === undefined && 'value' in hostName(host))
  return isHost && Number(port) >= 1 && Number(port) <= 65_535
    ? { value: { host, port: Number(port) } }
    : { expected: 'a host or host:port, such as ns1.example.com:53' }
}

function hostPorts(given: string): Parsed<HostPort[]> {
  const parsed = given.split(',').map((one) => hostPort(one.trim()))
  const values = parsed.flatMap((one) => ('value' in one ? one.value : []))
  return values.length === parsed.length
    ? { value: values }
    : { expected: 'a comma-separated list of host:port, such as 1.1.1.1:53, 9.9.9.9:53' }
}

function keyName(given: string): Parsed<string> {
  const name = given.replace(/\.$/, '').toLowerCase()
  const isName = name.length <= 253 && name.split('.').every((label) => /^[\x21-\x7e]{1,63}$/.test(label))
  return isName ? { value: name } : { expected: 'the name of a TSIG key' }
}

function base64Key(given: string): Parsed<string> {
  return /^[A-Za-z0-9+/]{2,}={0,2}$/.test(given) ? text(given) : { expected: 'a key in base64' }
}

function httpsOrLoopback(given: string): Parsed<string> {
  return 'value' in httpsUrl(given) || isLoopbackUrl(given)
    ? { value: given }
    : { expected: 'an address that starts with https://, or http:// on this machine' }
}

function isLoopbackUrl(given: string): boolean {
  if (!URL.canParse(given)) return false
  const { protocol, hostname } = new URL(given)
  return protocol === 'http:' && (hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, '')))
}

/** What programs of the operator get of this process's environment: nothing that is a setting of svc. */
export const envOfPrograms = (
  env: Readonly<Record<string, string | undefined>>,
  settings: ReadonlySet<string>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || settings.has(name) ? [] : [[name, value]],
    ),
  )
