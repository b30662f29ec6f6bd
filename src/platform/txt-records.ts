/** The time for each attempt with the DNS servers of the system. `WHOLE_MS` limits the total. */
const TRY_MS = 2_000
const TRIES = 2
const WHOLE_MS = 10_000

/**
 * The texts of the current TXT records, in the order of the DNS. A record of several texts (RFC 1035 §3.3.14) comes as
 * several, because Bun does not say where a record ends. `servers` replace those of the system.
 */
export async function txtRecords(name: string, servers?: readonly string[]): Promise<string[]> {
  const { Resolver } = await import('node:dns/promises')
  // A new resolver reads the system's settings again, which change with its network.
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), WHOLE_MS)
  try {
    return (await resolver.resolveTxt(name)).flat()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTFOUND' || code === 'ENODATA') return []
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Whether a record has exactly this text, which its publisher may have split into several. */
export function hasTxt(texts: readonly string[], wanted: string): boolean {
  const said = texts.filter((text) => text.trim() !== '')
  return said.some((_, first) => startsWithTexts(said.slice(first, first + wanted.length), wanted))
}

/** Checks in linear time, because a hostile DNS may send tens of thousands of texts. */
function startsWithTexts(texts: readonly string[], wanted: string): boolean {
  let joined = ''
  for (const text of texts) {
    joined += text
    if (joined.trim() === wanted) return true
    if (!wanted.startsWith(joined.trimStart())) return false
  }
  return false
}
