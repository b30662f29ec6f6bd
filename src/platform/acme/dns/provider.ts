/** Sets and removes TXT records. Rejects with `AcmeError`, whose message holds no secret. */
export type DnsProvider = {
  /** Adds the value beside those that are there. `name` without a dot at the end. */
  set(name: string, value: string, signal: AbortSignal): Promise<void>
  /** Removes that value only. No error if it is not there. */
  remove(name: string, value: string, signal: AbortSignal): Promise<void>
}
