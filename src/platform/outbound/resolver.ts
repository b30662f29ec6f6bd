/** All addresses of a name, as text. Rejects if it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>

/** The resolver of the system, which reads `/etc/hosts`. */
export const systemResolve: Resolve = async (name) => {
  const { lookup } = await import('node:dns/promises')
  return (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address)
}

/** A result older than this is refreshed in the background while it is still in use. */
const FRESH_MS = 20_000
const KEPT_MS = 30_000
const FAILURE_KEPT_MS = 1_000
const MAX_NAMES = 1_000

type Entry = { addresses: readonly string[]; at: number }

export type CachingResolver = {
  /** The cached addresses, without waiting. */
  known(name: string): readonly string[] | null
  resolve(name: string): Promise<readonly string[]>
}

/** Caches results for 30 s and failures for 1 s. Concurrent lookups of one name share one query. */
export function cachingResolver(resolve: Resolve, now: () => number): CachingResolver {
  const entries = new Map<string, Entry>()
  const failures = new Map<string, { error: unknown; at: number }>()
  const asking = new Map<string, Promise<readonly string[]>>()

  const ask = (name: string): Promise<readonly string[]> => {
    const running = asking.get(name)
    if (running !== undefined) return running
    const answer = resolve(name)
      .then((addresses) => {
        if (addresses.length === 0) throw new Error(`${name} has no address`)
        remember(entries, name, { addresses, at: now() })
        return addresses
      })
      .catch((error: unknown) => {
        remember(failures, name, { error, at: now() })
        throw error
      })
      .finally(() => asking.delete(name))
    asking.set(name, answer)
    return answer
  }

  const known = (name: string): readonly string[] | null => {
    const entry = entries.get(name)
    if (entry === undefined) return null
    const age = now() - entry.at
    if (age > KEPT_MS) return null
    if (age > FRESH_MS && !hasJustFailed(name)) ask(name).catch(() => {})
    return entry.addresses
  }

  const hasJustFailed = (name: string) => {
    const failure = failures.get(name)
    return failure !== undefined && now() - failure.at < FAILURE_KEPT_MS
  }

  return {
    known,
    async resolve(name) {
      const addresses = known(name)
      if (addresses !== null) return addresses
      if (hasJustFailed(name)) throw failures.get(name)?.error
      return ask(name)
    },
  }
}

/** Drops the name that was looked up longest ago if there are too many. */
function remember<T>(map: Map<string, T>, name: string, value: T): void {
  map.delete(name)
  map.set(name, value)
  if (map.size <= MAX_NAMES) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
