import { isPublicAddress, parseIp } from '../domain/ip-ranges.ts'

type Listening = { host: string; adminHost: string; serverAddresses?: readonly string[] }

const LOOK_UP_MS = 1_000
const SHOWN = 4
const LINK_LOCAL = /^(169\.254\.|fe[89ab])/i
const LOOPBACK = /^(127\.|::1$)/

/**
 * The addresses at which others reach this server, for A and AAAA records: those of the admin host if the DNS knows it,
 * else the one it listens on, else those of the machine. Public ones alone if there are any. IPv4 first.
 */
export async function ownAddresses({
  host,
  adminHost,
  serverAddresses = [],
}: Listening): Promise<readonly string[]> {
  if (serverAddresses.length > 0) return serverAddresses
  const named = adminHost.includes('.') ? await addressesOfName(adminHost) : []
  const found = [named, [host], machineAddresses()].map(usable).find((some) => some.length > 0) ?? []
  const open = found.filter(isPublicAddress)
  const shown = open.length > 0 ? open : found
  return shown.sort((a, b) => Number(a.includes(':')) - Number(b.includes(':'))).slice(0, SHOWN)
}

/** The same without asking the DNS: those that were given, else the public ones of the machine. contract 17.12. */
export const knownAddresses = ({
  serverAddresses = [],
}: Pick<Listening, 'serverAddresses'>): readonly string[] =>
  serverAddresses.length > 0 ? serverAddresses : usable(machineAddresses()).filter(isPublicAddress)

const usable = (addresses: readonly string[]): string[] =>
  [...new Set(addresses)].filter(
    (one) =>
      parseIp(one) !== null && !LOOPBACK.test(one) && !LINK_LOCAL.test(one) && !/^(0\.0\.0\.0|::)$/.test(one),
  )

const machineAddresses = (): string[] =>
  Object.values(process.getBuiltinModule('node:os').networkInterfaces())
    .flatMap((one) => one ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address)

/** Empty if the name does not resolve, or not soon. */
async function addressesOfName(name: string): Promise<string[]> {
  const found = Bun.dns.lookup(name).then(
    (all) => all.map(({ address }) => address),
    () => [],
  )
  return Promise.race([found, Bun.sleep(LOOK_UP_MS).then(() => [])])
}
