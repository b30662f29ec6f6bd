/** What became of the requests to the store. */
export class StoreActivity {
  /** `performance.now()` of the last answer, a refusal too; minus infinity before the first. */
  heardAt = Number.NEGATIVE_INFINITY

  /** `result` is `ok`, the status of a refusal, or what went wrong. */
  note(_op: string, result: string, _ms: number): void {
    if (result === 'ok' || /^[1-4]\d\d$/.test(result)) this.heardAt = performance.now()
  }
}
