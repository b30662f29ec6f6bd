import {
  type Cidr,
  cidrContains,
  formatIp,
  type IpAddress,
  isPublicAddress,
  parseCidr,
  parseIp,
} from '../../domain/ip-ranges.ts'

/** One entry of `PROXY_ALLOWED_TARGETS`; `port` null allows every port. */
type AllowedTarget = { name: string | null; range: Cidr | null; port: number | null }

export type AddressRules = {
  /** The addresses that may be dialled for `name`, canonical and in order; null if it leads to a forbidden place. */
  allowedOf(name: string, port: number, addresses: readonly string[]): string[] | null
  /** Whether the operator named it: the name itself, or all its addresses. */
  isNamedTarget(name: string, port: number, addresses: readonly string[]): boolean
  /** Names that always mean this machine (RFC 6761 §6.3), unless the operator allowed them explicitly. */
  isForbiddenName(name: string, port: number): boolean
}

/**
 * Every address of a name must be public. A single private one rejects the name, so that a resolver that mixes
 * addresses gains nothing. If the operator allowed some of them, only those are used. contract §8.
 */
export function addressRules(allowedTargets: readonly string[]): AddressRules {
  const targets = allowedTargets.map(parseAllowedTarget)

  const isNamed = (name: string, port: number) =>
    targets.some((one) => one.name === name && (one.port === null || one.port === port))

  const isInRange = (ip: IpAddress, port: number) =>
    targets.some(
      ({ range, port: only }) =>
        range !== null && cidrContains(range, ip) && (only === null || only === port),
    )

  return {
    allowedOf(name, port, addresses) {
      const ips = addresses.map(parseIp)
      if (!ips.every((ip) => ip !== null)) return null
      if (isNamed(name, port) || ips.every(isPublicAddress)) return ips.map(formatIp)
      const allowed = ips.filter((ip) => isInRange(ip, port))
      return allowed.length === 0 ? null : allowed.map(formatIp)
    },
    isNamedTarget(name, port, addresses) {
      const ips = addresses.map(parseIp)
      return isNamed(name, port) || (ips.length > 0 && ips.every((ip) => ip !== null && isInRange(ip, port)))
    },
    isForbiddenName: (name, port) =>
      (name === 'localhost' || name.endsWith('.localhost')) &&
      !isNamed(name, port) &&
      !LOOPBACK.some((ip) => isInRange(ip, port)),
  }
}

/** The host of a URL in the form that the rules compare: lower case, no brackets, no trailing dot. */
export function bareHostname(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}

const LOOPBACK: readonly IpAddress[] = ['127.0.0.1', '::1'].flatMap((text) => parseIp(text) ?? [])

function parseAllowedTarget(text: string): AllowedTarget {
  const range = parseCidr(text)
  if (range !== null) return { name: null, range, port: null }
  const [, host = text, portText] = /^(.*?)(?::(\d{1,5}))?$/.exec(text) ?? []
  const bare = bareHostname(host)
  const ip = parseIp(bare)
  return {
    name: ip === null ? bare : null,
    range: ip === null ? null : parseCidr(formatIp(ip)),
    port: portText === undefined ? null : Number(portText),
  }
}
