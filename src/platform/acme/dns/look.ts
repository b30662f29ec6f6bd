import { isIP } from 'node:net'
import { messageOf } from '../../../domain/errors.ts'
import { hasTxt, txtRecords } from '../../txt-records.ts'
import { AcmeError } from '../error.ts'

export type ResolverAddress = { host: string; port: number }
/** Null: those of the system. */
export type Resolvers = readonly ResolverAddress[] | null

const MAX_CNAMES = 8
const AGAIN_MS = 2_000
const TRY_MS = 3_000

/** Where the CNAMEs of a name end. Rejects with `AcmeError`. */
export async function endOfCnames(name: string, resolvers: Resolvers): Promise<string> {
  let at = name
  for (let steps = 0; steps <= MAX_CNAMES; steps += 1) {
    const next = await cnameOf(at, resolvers)
    if (next === null) return at
    at = next
  }
  throw new AcmeError(`${name} leads over more than ${MAX_CNAMES} CNAME records`)
}

async function cnameOf(name: string, resolvers: Resolvers): Promise<string | null> {
  const { Resolver } = await import('node:dns/promises')
  const resolver = new Resolver({ timeout: TRY_MS, tries: 2 })
  if (resolvers !== null) resolver.setServers(await Promise.all(resolvers.map(serverOf)))
  try {
    const [found] = await resolver.resolveCname(name)
    return found === undefined ? null : found.toLowerCase().replace(/\.$/, '')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTFOUND' || code === 'ENODATA') return null
    throw new AcmeError(`${name} could not be looked up in the DNS. ${messageOf(error)}`)
  }
}

type Wanted = { name: string; values: readonly string[] }
type Waiting = { resolvers: Resolvers; timeoutMs: number; signal: AbortSignal }

/** Resolves when each resolver shows all values. Rejects with `AcmeError` that says what was seen. */
export async function untilShown(wanted: readonly Wanted[], waiting: Waiting): Promise<void> {
  const { resolvers, timeoutMs, signal } = waiting
  const until = performance.now() + timeoutMs
  const servers = resolvers === null ? [undefined] : await Promise.all(resolvers.map(serverOf))
  for (;;) {
    const missing = await firstMissing(wanted, servers)
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
      if (!isWhole)
        return `The TXT record ${name} is not yet at ${server ?? 'the resolver'}, which ${said(seen)}`
    }
  return null
}

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
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`
}
