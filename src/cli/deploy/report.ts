import {
  expectedReport,
  type Json,
  refusedLines,
  reportOutcome,
  saidKinds,
  troublesOf,
  waitForReport,
} from '../../../scripts/actions/upload/lib/report.mjs'
import { isRecord } from '../../domain/is-record.ts'
import type { ApiClient } from '../api-client.ts'
import { CommandFailure, type Io, printable } from '../command.ts'
import { isPassing } from '../retry.ts'
import type { Progress } from './progress.ts'
import type { Published } from './upload.ts'

/**
 * The whole report of a publish, as far as it is made within 30 s; undefined of a server that makes none. That it cannot be
 * read is a note: the publish stands.
 */
export async function readReport(
  client: ApiClient,
  { answer }: Published,
  io: Io,
  progress: Progress,
): Promise<Json | undefined> {
  const id = isRecord(answer['deployment']) ? answer['deployment']['id'] : undefined
  if (expectedReport(answer) === undefined || typeof id !== 'string') return undefined
  const path = `/api/deployments/${encodeURIComponent(id)}/report`
  const { sleep, nowMs } = io
  const ask = (timeoutMs: number) => client.json('GET', path, undefined, timeoutMs)
  try {
    return await waitForReport({ ask, isPassing, sleep, nowMs })
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    progress.note(`the report cannot be read: ${error.message}`)
    return undefined
  }
}

/** The report as the JSON of a publish has it: the whole, and where people read it. */
export const reportIn = ({ answer }: Published, report: Json | undefined): Json =>
  isRecord(answer['report']) ? { report: { ...answer['report'], ...report } } : {}

/** The lines of the routing files that the server refused. */
export function writeRefused(io: Io, { answer }: Published): void {
  for (const line of refusedLines(answer)) io.stderr.write(`${printable(line)}\n`)
}

/** Errors and warnings that nothing has said yet, and the address of the page. `said`: kinds of findings that were. */
export function writeReport(
  io: Io,
  { answer }: Published,
  report: Json | undefined,
  said: readonly string[],
): void {
  const expected = expectedReport(answer)
  if (expected === undefined) return
  const troubles = troublesOf(report ?? {}, new Set([...saidKinds(answer), ...said]))
  for (const { severity, shown, more } of troubles) {
    for (const line of shown) io.stderr.write(`${printable(`${severity} ${line}`)}\n`)
    if (more > 0) io.stderr.write(`  and ${more} more\n`)
  }
  const page = expected.pageUrl === undefined ? '' : `  ${expected.pageUrl}`
  io.stdout.write(`${printable(`${reportOutcome(report, troubles)}${page}`)}\n`)
}
