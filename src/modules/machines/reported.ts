import type { Context } from '../../context.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { onePer } from '../../platform/one-per.ts'
import type { MachineView } from './model.ts'
import type { MachineReport } from './report.ts'

/** One that is silent for so long is forgotten. */
const KEPT_MS = HOUR_MS
/** Names that come and go must not fill the memory. */
const MAX_MACHINES = 100

type Reported = { at: number; report: MachineReport; lastBatch: string }

/** What other machines said of themselves; begins anew with each primary. */
const reportedOf = onePer((_: Context) => new Map<string, Reported>())

/** Two may have the same name: containers of one image. */
const keyOf = ({ name, url }: Pick<MachineReport, 'name' | 'url'>): string => JSON.stringify([name, url])

/** Keeps what a machine says of itself. False if it said the same before: an answer may get lost on its way. */
export function noteReport(ctx: Context, report: MachineReport, batch: string): boolean {
  const reported = reportedOf(ctx)
  const key = keyOf(report)
  const isNew = reported.get(key)?.lastBatch !== batch
  // The longest silent come first.
  reported.delete(key)
  reported.set(key, { at: ctx.now(), report, lastBatch: batch })
  const [oldest] = reported.keys()
  if (reported.size > MAX_MACHINES && oldest !== undefined) reported.delete(oldest)
  return isNew
}

/** In the order of their names. */
export function otherMachines(ctx: Context): MachineView[] {
  const reported = reportedOf(ctx)
  for (const [key, { at }] of reported) if (ctx.now() - at > KEPT_MS) reported.delete(key)
  return [...reported.values()]
    .map(({ at, report }) => ({ ...report, lastSeenAt: isoTime(at) }))
    .sort((a, b) => a.name.localeCompare(b.name) || (a.url ?? '').localeCompare(b.url ?? ''))
}
