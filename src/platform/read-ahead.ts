type Limits<T> = {
  /** How many are on their way at once, and how much they weigh together. One is always. */
  atOnce: number
  weight: number
  weigh: (item: T) => number
}

/** The results of `work` in the order of the items. The next ones are begun while the caller works on one. */
export async function* readAhead<T, R>(
  items: Iterable<T>,
  { atOnce, weight, weigh }: Limits<T>,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: { weighs: number; result: Promise<R> }[] = []
  let total = 0
  const next = async (): Promise<R | undefined> => {
    const first = running.shift()
    total -= first?.weighs ?? 0
    return first?.result
  }
  for (const item of items) {
    const weighs = weigh(item)
    while (running.length > 0 && (running.length >= atOnce || total + weighs > weight))
      yield (await next()) as R
    const result = work(item)
    // Its turn reports it, unless an earlier one failed.
    result.catch(() => undefined)
    running.push({ weighs, result })
    total += weighs
  }
  while (running.length > 0) yield (await next()) as R
}
