import type { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { messageOf } from '../../../domain/errors.ts'
import { hasTxt, txtRecords } from '../../txt-records.ts'
import { AcmeError } from '../error.ts'
import { nameServersOf } from './name-servers.ts'

export type ResolverAddress = { host: string; port: number }
/** Null: those of the system. */
export type Resolvers = readonly ResolverAddress[] | null

const MAX_CNAMES = 8
const AGAIN_MS = 2_000
const TRY_MS = 3_000
/** For each server of a zone. */
const ZONE_MS = 1_000

/** `at`: where the CNAMEs of a name end. `servers`: those of its zone that answer, as `setServers` takes them; maybe none. */
export type CnameEnd = { at: string; servers: string[] }

/** Asks the servers of each zone where they answer, so that no resolver learns that there is nothing yet. Rejects with `AcmeError`. */
export async function endOfCnames(name: string, resolvers: Resolvers, port = DNS_PORT): Promise<CnameEnd> {
  const resolver = await resolverAt(resolvers === null ? null : await Promise.all(resolvers.map(serverOf)))
  let at = name
  for (let steps = 0; steps <= MAX_CNAMES; steps += 1) {
    const servers = (await nameServersOf(at, resolver)).map((address) => withPort(address, port))
    const found = await cnameOf(at, resolver, servers)
    if (found.next === null) return { at, servers: found.servers }
    at = found.next
  }
  throw new AcmeError(`${name} leads over more than ${MAX_CNAMES} CNAME records`)
}

const DNS_PORT = 53

async function resolverAt(
  servers: readonly string[] | null,
  { timeout, tries }: { timeout: number; tries: number } = { timeout: TRY_MS, tries: 2 },
): Promise<Resolver> {
  const { Resolver } = await import('node:dns/promises')
  const resolver = new Resolver({ timeout, tries })
  if (servers !== null) resolver.setServers(servers)
  return resolver
}

async function cnameOf(
  name: string,
  resolver: Resolver,
  servers: string[],
): Promise<{ next: string | null; servers: string[] }> {
  if (servers.length > 0)
    try {
      return {
        next: await askCname(name, await resolverAt(servers, { timeout: ZONE_MS, tries: 1 })),
        servers,
      }
    } catch {
      // A firewall may let nothing but the resolver through.
    }
  try {
    return { next: await askCname(name, resolver), servers: [] }
  } catch (error) {
    throw new AcmeError(`${name} could not be looked up in the DNS. ${messageOf(error)}`)
  }
}

/** Null where there is none. */
async function askCname(name: string, resolver: Resolver): Promise<string | null> {
  try {
    const [found] = await resolver.resolveCname(name)
    return found === undefined ? null : found.toLowerCase().replace(/\.$/, '')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTFOUND' || code === 'ENODATA') return null
    throw error
  }
}

type Wanted = { name: string; values: readonly string[] }
type Waiting = { resolvers: Resolvers; timeoutMs: number; signal: AbortSignal }

/**
 * Resolves when each resolver shows all values. Rejects with `AcmeError` that says what was seen. `first`: what the servers of
 * zones have to show before, where they answer.
 */
export async function untilShown(
  wanted: readonly Wanted[],
  waiting: Waiting,
  first: readonly (Wanted & { servers: readonly string[] })[] = [],
): Promise<void> {
  const { resolvers, timeoutMs, signal } = waiting
  const until = performance.now() + timeoutMs
  const servers = resolvers === null ? [undefined] : await Promise.all(resolvers.map(serverOf))
  for (;;) {
    const missing = (await missingInZones(first)) ?? (await firstMissing(wanted, servers))
    signal.throwIfAborted()
    if (missing === null) return
    const leftMs = until - performance.now()
    if (leftMs <= 0) throw new AcmeError(`${missing} after ${Math.round(timeoutMs / 1000)} s`)
    await Bun.sleep(Math.min(AGAIN_MS, leftMs))
    signal.throwIfAborted()
  }
}

/** What is not there yet, in a sentence without its end; null if all is. */
async function firstMissing(
  wanted: readonly Wanted[],
  servers: readonly (string | undefined)[],
): Promise<string | null> {
  for (const server of servers)
    for (const { name, values } of wanted) {
      const seen = await seenAt(name, server)
      const isWhole = Array.isArray(seen) && values.every((value) => hasTxt(seen, value))
      if (!isWhole) return notYet(name, server ?? 'the resolver', seen)
    }
  return null
}

async function missingInZones(
  first: readonly (Wanted & { servers: readonly string[] })[],
): Promise<string | null> {
  for (const { name, values, servers } of first)
    for (const server of servers) {
      const seen = await seenAt(name, server)
      if (Array.isArray(seen) && !values.every((value) => hasTxt(seen, value)))
        return notYet(name, server, seen)
    }
  return null
}

const notYet = (name: string, server: string, seen: string[] | string): string =>
  `The TXT record ${name} is not yet at ${server}, which ${said(seen)}`

async function seenAt(name: string, server: string | undefined): Promise<string[] | string> {
  try {
    return await txtRecords(name, server === undefined ? undefined : [server])
  } catch (error) {
    return messageOf(error)
  }
}

const MAX_SHOWN = 4

function said(seen: string[] | string): string {
  if (typeof seen === 'string') return `does not answer (${seen})`
  if (seen.length === 0) return 'shows none'
  const shown = seen.slice(0, MAX_SHOWN).map((value) => JSON.stringify(value.slice(0, 100)))
  return `shows ${shown.join(', ')}${seen.length > MAX_SHOWN ? ` and ${seen.length - MAX_SHOWN} more` : ''}`
}

/** As `setServers` takes it. */
async function serverOf({ host, port }: ResolverAddress): Promise<string> {
  const { lookup } = await import('node:dns/promises')
  const address =
    isIP(host) > 0
      ? host
      : await lookup(host).then(
          (found) => found.address,
          () => null,
        )
  if (address === null) throw new AcmeError(`${host} in ACME_DNS_RESOLVERS has no address`)
  return withPort(address, port)
}

const withPort = (address: string, port: number): string =>
  isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`
