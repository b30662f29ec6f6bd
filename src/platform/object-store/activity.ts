/** What became of the requests to the store. */
export class StoreActivity {
  /** `performance.now()` of the last answer that says what is in the store; minus infinity before the first. */
  heardAt = Number.NEGATIVE_INFINITY

  /** `result` is `ok`, the status of a refusal, or what went wrong. */
  note(_op: string, result: string, _ms: number): void {
    if (TELLING.has(result)) this.heardAt = performance.now()
  }
}

/** Whom the store does not let in any more hears nothing from it. */
const TELLING: ReadonlySet<string> = new Set(['ok', '304', '404', '409', '412', '416'])
