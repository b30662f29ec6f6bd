/** The DNS servers of the machine are tried so long, and none of it may take longer in all. */
const TRY_MS = 2_000
const TRIES = 2
const WHOLE_MS = 10_000

/**
 * The texts of the TXT records as the DNS has them now, in its order. A record of several texts (RFC 1035 §3.3.14) comes
 * as several: Bun does not tell where one record ends. `servers` are asked instead of the machine's own.
 */
export async function txtRecords(name: string, servers?: readonly string[]): Promise<string[]> {
  const { Resolver } = await import('node:dns/promises')
  // A new one reads the machine's settings again, which change with its network.
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

/** Whether a record says just this. Those who publish it may cut it into several texts. */
export function hasTxt(texts: readonly string[], wanted: string): boolean {
  const said = texts.filter((text) => text.trim() !== '')
  return said.some((_, first) => startsWithTexts(said.slice(first, first + wanted.length), wanted))
}

/** Each has to carry it on: a hostile DNS may say tens of thousands, and all of them have to be looked at. */
function startsWithTexts(texts: readonly string[], wanted: string): boolean {
  let joined = ''
  for (const text of texts) {
    joined += text
    if (joined.trim() === wanted) return true
    if (!wanted.startsWith(joined.trimStart())) return false
  }
  return false
}
