import type { Fetched } from './fetch-change.ts'

/** As many are on their way at once where there is much to take. */
const AT_ONCE = 4

export type Asked = { change: Fetched | null; askedAt: number }
type Asking = { change: Promise<Fetched | null>; askedAt: number }

/**
 * What follows a number, in order, up to the first that is not there. The first is asked for alone, as mostly there is none; the
 * more there are, the more are asked for while the caller puts in one.
 */
export async function* nextChanges(
  number: number,
  fetch: (number: number) => Promise<Fetched | null>,
): AsyncGenerator<Asked> {
  const running: Asking[] = []
  let last = number
  const ask = () => {
    last += 1
    const change = fetch(last)
    // Its turn reports it, unless an earlier one ends all.
    change.catch(() => undefined)
    running.push({ askedAt: performance.now(), change })
  }
  try {
    for (let found = 1; ; found += 1) {
      if (running.length === 0) ask()
      const { change, askedAt } = running.shift() as Asking
      const asked = { change: await change, askedAt }
      if (asked.change === null) return yield asked
      while (running.length < Math.min(AT_ONCE, found)) ask()
      yield asked
    }
  } finally {
    for (const { change } of running) void change.then((one) => one?.pages.discard()).catch(() => undefined)
  }
}
