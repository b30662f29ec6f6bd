/** An address as a 32-bit or 128-bit number. */
export type IpAddress = { version: 4 | 6; bits: bigint }

/** The addresses whose first `prefix` bits equal those of `bits`; the remaining bits are 0. */
export type Cidr = { version: 4 | 6; bits: bigint; prefix: number }

/** The IANA IPv4 special-purpose registry, multicast, and addresses reachable only inside a cloud. */
const IPV4_SPECIAL = cidrs(
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT (CGNAT)
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure metadata and DNS: in a public range, but not publicly reachable
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays, deprecated
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
)

/**
 * The only IPv6 addresses that reach the internet. Outside are unspecified, loopback, mapped, NAT64, discard-only
 * (100::/64), dummy (100:0:0:1::/64), SRv6 (5f00::/16), unique-local, link-local, site-local and multicast.
 */
const IPV6_GLOBAL = cidrs('2000::/3')

/** The entries of the IANA IPv6 special-purpose registry inside 2000::/3, except 6to4. */
const IPV6_SPECIAL = cidrs(
  '2001::/23', // protocol assignments: Teredo, benchmarking, AMT, AS112, ORCHID, drone tags
  '2001:db8::/32', // documentation
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
)

/** Ranges that embed an IPv4 address, and how many bits follow it. The embedded address is the one that counts. */
const IPV4_CARRIERS = [
  { range: cidr('::ffff:0:0/96'), after: 0n }, // mapped
  { range: cidr('64:ff9b::/96'), after: 0n }, // NAT64
  { range: cidr('2002::/16'), after: 80n }, // 6to4
] as const

const LOOPBACK = cidrs('127.0.0.0/8', '::1/128')

const MAPPED = IPV4_CARRIERS[0].range

/**
 * Parses IPv4 in any notation that resolvers accept (`127.1`, `0x7f000001`, `0177.0.0.1`, `2130706433`, a trailing dot)
 * and IPv6 (with or without brackets, with an IPv4 tail, with a zone, which is dropped). Null for anything else,
 * including names.
 */
export function parseIp(text: string): IpAddress | null {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (!bare.includes(':')) return bare === text ? parseIpv4(text) : null
  const zone = bare.indexOf('%')
  if (zone !== -1 && zone === bare.length - 1) return null
  const bits = parseIpv6(zone === -1 ? bare : bare.slice(0, zone))
  return bits === null ? null : { version: 6, bits }
}

/** Formats canonically: dotted decimal, or RFC 5952 in lower case without brackets. */
export function formatIp(ip: IpAddress): string {
  if (ip.version === 4) return dotted(ip.bits)
  if (matches(MAPPED, ip)) return `::ffff:${dotted(ip.bits & 0xffff_ffffn)}`
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((ip.bits >> BigInt(112 - i * 16)) & 0xffffn).toString(16),
  )
  const zeros = longestZeros(groups)
  if (zeros.length < 2) return groups.join(':')
  return `${groups.slice(0, zeros.start).join(':')}::${groups.slice(zeros.start + zeros.length).join(':')}`
}

/**
 * Whether the address is on the public internet: neither it nor an IPv4 address embedded in it (mapped, NAT64 or 6to4)
 * is in a special-purpose range of IANA's registries. Text that is not an address is not public.
 */
export function isPublicAddress(address: string | IpAddress): boolean {
  const ip = typeof address === 'string' ? parseIp(address) : address
  if (ip === null) return false
  if (ip.version === 4) return !IPV4_SPECIAL().some((range) => matches(range, ip))
  for (const { range, after } of IPV4_CARRIERS) {
    if (matches(range, ip)) return isPublicAddress({ version: 4, bits: (ip.bits >> after) & 0xffff_ffffn })
  }
  return (
    IPV6_GLOBAL().some((range) => matches(range, ip)) && !IPV6_SPECIAL().some((range) => matches(range, ip))
  )
}

/** Parses `10.0.0.0/8`, `::1/128` or a single address. IPv4 needs all four decimal parts. Null if invalid. */
export function parseCidr(text: string): Cidr | null {
  const slash = text.indexOf('/')
  const address = slash === -1 ? text : text.slice(0, slash)
  const ip = address.includes(':') ? parseIp(address) : plainIpv4(address)
  if (ip === null || address.includes('%') || address.startsWith('[')) return null
  const width = widthOf(ip.version)
  const prefixText = slash === -1 ? String(width) : text.slice(slash + 1)
  const prefix = /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : Number.NaN
  if (!(prefix <= width)) return null
  const rest = BigInt(width - prefix)
  return { version: ip.version, bits: (ip.bits >> rest) << rest, prefix }
}

/** A mapped IPv4 address (`::ffff:10.0.0.1`, as a dual-stack listener sees it) counts as the IPv4 address itself. */
export function cidrContains(range: Cidr, ip: IpAddress): boolean {
  if (range.version === 4 && ip.version === 6 && matches(MAPPED, ip)) return matches(range, unmapped(ip))
  return matches(range, ip)
}

const unmapped = ({ bits }: IpAddress): IpAddress => ({ version: 4, bits: bits & 0xffff_ffffn })

/** Whether this is a loopback address. A name is not. */
export function isLoopback(address: string): boolean {
  const ip = parseIp(address)
  return ip !== null && LOOPBACK().some((range) => cidrContains(range, ip))
}

/**
 * The key for counting one sender's requests: an IPv4 address (mapped or not), or the /64 network of an IPv6 address,
 * because whoever has one address of it has them all. Other text is returned unchanged.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const ip = parseIp(address)
  if (ip === null || ip.version === 4) return address
  if (matches(MAPPED, ip)) return formatIp(unmapped(ip))
  return `${formatIp({ version: 6, bits: (ip.bits >> 64n) << 64n })}/64`
}

/** Parses a comma-separated list, which may be empty; null if any entry is invalid. */
export function parseCidrList(text: string): Cidr[] | null {
  const parsed: Cidr[] = []
  for (const entry of text.split(',')) {
    if (entry.trim() === '') continue
    const range = parseCidr(entry.trim())
    if (range === null) return null
    parsed.push(range)
  }
  return parsed
}

function matches(range: Cidr, ip: IpAddress): boolean {
  if (range.version !== ip.version) return false
  const rest = BigInt(widthOf(range.version) - range.prefix)
  return ip.bits >> rest === range.bits >> rest
}

function widthOf(version: 4 | 6): number {
  return version === 4 ? 32 : 128
}

/** One to four numbers in decimal, octal or hexadecimal; the last one fills all remaining bytes. */
function parseIpv4(text: string): IpAddress | null {
  const parts = (text.endsWith('.') ? text.slice(0, -1) : text).split('.')
  if (parts.length > 4) return null
  let bits = 0n
  for (const [index, part] of parts.entries()) {
    const number = anyBase(part)
    const bytes = index === parts.length - 1 ? BigInt(4 - index) : 1n
    if (number === null || number >= 1n << (bytes * 8n)) return null
    bits = (bits << (bytes * 8n)) | number
  }
  return { version: 4, bits }
}

function anyBase(part: string): bigint | null {
  if (part.length > 16) return null
  if (/^0x[0-9a-f]*$/i.test(part)) return part.length === 2 ? 0n : BigInt(part)
  if (/^0[0-7]*$/.test(part)) return part === '0' ? 0n : BigInt(`0o${part.slice(1)}`)
  return /^[1-9]\d*$/.test(part) ? BigInt(part) : null
}

/** Accepts only four decimal parts without leading zeros. */
function plainIpv4(text: string): IpAddress | null {
  return /^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/.test(text) ? parseIpv4(text) : null
}

function parseIpv6(text: string): bigint | null {
  const [left = '', right, ...more] = text.split('::')
  if (more.length > 0) return null
  const head = groupsOf(left, right === undefined)
  const tail = right === undefined ? [] : groupsOf(right, true)
  if (head === null || tail === null) return null
  const missing = 8 - head.length - tail.length
  if (right === undefined ? missing !== 0 : missing < 1) return null
  return [...head, ...Array<bigint>(missing).fill(0n), ...tail].reduce(
    (bits, group) => (bits << 16n) | group,
    0n,
  )
}

function groupsOf(text: string, mayEndInIpv4: boolean): bigint[] | null {
  if (text === '') return []
  const groups: bigint[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    const ipv4 = mayEndInIpv4 && index === parts.length - 1 ? plainIpv4(part) : null
    if (ipv4 !== null) groups.push(ipv4.bits >> 16n, ipv4.bits & 0xffffn)
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`))
    else return null
  }
  return groups
}

function dotted(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.')
}

/** The first of the longest runs of zero groups. */
function longestZeros(groups: string[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 }
  let start = 0
  for (const [index, group] of groups.entries()) {
    if (group !== '0') start = index + 1
    else if (index + 1 - start > longest.length) longest = { start, length: index + 1 - start }
  }
  return longest
}

/** Used by the tables above. */
function cidr(text: string): Cidr {
  const parsed = parseCidr(text)
  if (parsed === null) throw new TypeError(`not a CIDR: ${text}`)
  return parsed
}

/** Parsed on first use: a server that only serves files starts without them. */
function cidrs(...texts: string[]): () => readonly Cidr[] {
  let read: readonly Cidr[] | undefined
  return () => {
    read ??= texts.map(cidr)
    return read
  }
}
