export type Json = Record<string, unknown>

/** The errors or warnings of one kind: the first ten as lines, and how many there are besides. */
export type Trouble = { kind: string; severity: 'error' | 'warning'; shown: string[]; more: number }

/** `pageUrl` is where people read the report. */
export type Expected = { pageUrl: string | undefined }

/** What an upload's answer says of its report; undefined of an older server. */
export function expectedReport(answer: Json): Expected | undefined

/** The refused lines of the routing files, as `_redirects:12 message`. */
export function refusedLines(answer: Json): string[]

/**
 * Asks until the report is there, for 30 s. `ask` gets how long it may take. Gives the last answer, undefined if there was
 * none in time; throws what `ask` throws if it is not passing.
 */
export function waitForReport(asking: {
  ask: (timeoutMs: number) => Promise<unknown>
  isPassing: (error: unknown) => boolean
  sleep: (ms: number) => Promise<unknown>
  nowMs: () => number
}): Promise<Json | undefined>

/** The kinds of findings that the notes of an answer, and its refused lines, have said already. */
export function saidKinds(answer: Json): Set<string>

/** The errors of a report, then its warnings, without those of the kinds that were `said`. */
export function troublesOf(report: Json, said: ReadonlySet<string>): Trouble[]

/** How the report ended, in one line. */
export function reportOutcome(report: Json | undefined, troubles: readonly Trouble[]): string
