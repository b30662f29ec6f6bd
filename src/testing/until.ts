/** Less than a test may take (scripts/test.ts), so that the test fails with what it waited for. */
const LIMIT_MS = 90_000
const PAUSE_MS = 5

/**
 * Checks until there is something other than false or undefined, and returns it. `what` completes the message of the
 * failure: `Waited 90 s in vain for the second order`.
 */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
  limitMs = LIMIT_MS,
): Promise<Exclude<T, false | undefined>> {
  const end = performance.now() + limitMs
  for (;;) {
    const found = await check()
    if (found !== false && found !== undefined) return found as Exclude<T, false | undefined>
    if (performance.now() > end) throw new Error(`Waited ${limitMs / 1000} s in vain for ${what}`)
    await Bun.sleep(PAUSE_MS)
  }
}
