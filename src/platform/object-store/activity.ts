/** Bounds of the buckets of durations, and one more for the rest. */
export const STORE_BUCKETS_MS = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000,
] as const

/** What became of the requests to the store, since the process started. */
export class StoreActivity {
  /** `performance.now()` of the last answer that says what is in the store; minus infinity before the first. */
  heardAt = Number.NEGATIVE_INFINITY
  readonly durations: number[] = Array(STORE_BUCKETS_MS.length + 1).fill(0)
  durationSumMs = 0
  readonly #results = new Map<string, Map<string, number>>()

  /** `result` is `ok`, the status of a refusal, or what went wrong. */
  note(op: string, result: string, ms: number): void {
    if (TELLING.has(result)) this.heardAt = performance.now()
    const ofOp = this.#results.get(op) ?? new Map<string, number>()
    this.#results.set(op, ofOp.set(result, (ofOp.get(result) ?? 0) + 1))
    const found = STORE_BUCKETS_MS.findIndex((max) => ms <= max)
    const bucket = found === -1 ? STORE_BUCKETS_MS.length : found
    this.durations[bucket] = (this.durations[bucket] ?? 0) + 1
    this.durationSumMs += ms
  }

  /** How many requests ended so. */
  results(): { op: string; result: string; count: number }[] {
    return [...this.#results].flatMap(([op, ofOp]) =>
      [...ofOp].map(([result, count]) => ({ op, result, count })),
    )
  }
}

/** Whom the store does not let in any more hears nothing from it. */
const TELLING: ReadonlySet<string> = new Set(['ok', '304', '404', '409', '412', '416'])
