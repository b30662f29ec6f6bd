import type { Resolver } from 'node:dns/promises'
import { zonesOf } from './api.ts'

const MAX_SERVERS = 4

/**
 * The addresses of the servers of the zone that a name is in; none where they cannot be found. A resolver that is asked for
 * the name before it is there remembers for long that there is none (RFC 2308); these remember nothing. The name itself is
 * not asked for here.
 */
export async function nameServersOf(name: string, resolver: Resolver): Promise<string[]> {
  for (const zone of zonesOf(name).slice(1)) {
    const names = await found(() => resolver.resolveNs(zone))
    if (names === null) return []
    if (names.length > 0) return addressesOf(names.slice(0, MAX_SERVERS), resolver)
  }
  return []
}

async function addressesOf(names: readonly string[], resolver: Resolver): Promise<string[]> {
  const all = await Promise.all(
    names.map(async (name) => {
      const v4 = (await found(() => resolver.resolve4(name))) ?? []
      return v4.length > 0 ? v4 : ((await found(() => resolver.resolve6(name))) ?? [])
    }),
  )
  return all.flat()
}

/** Empty where there is nothing; null where nobody answers. */
async function found(ask: () => Promise<string[]>): Promise<string[] | null> {
  try {
    return await ask()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null
  }
}
