import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import type { Observed } from '../../db/request-log/row.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { UUID } from '../../domain/uuid.ts'

/** Where a machine that follows reports to the primary, and what it hands over. contract 18 §6. */
export const REPORT_PATH = '/_svc/machine'
/** Of one report. */
export const MAX_REPORT_BYTES = 2 ** 20

const text = (maxLength: number) => Type.String({ maxLength })
const whole = (maximum = Number.MAX_SAFE_INTEGER) => Type.Integer({ minimum: 0, maximum })
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const machine = Type.Object({
  name: Type.String({ pattern: '^[^\\p{C}]{1,100}$' }),
  role: Type.Union([Type.Literal('standby'), Type.Literal('node')]),
  url: orNull(Type.String({ maxLength: 2048, pattern: '^https?://[^\\s]+$' })),
  version: Type.String({ maxLength: 100, pattern: '^[\\w.+-]+$' }),
  epoch: whole(),
  number: whole(),
  lagMs: whole(),
  cacheBytes: whole(),
  cacheHits: whole(),
  cacheMisses: whole(),
})
export type MachineReport = Static<typeof machine>

/** Bounds are those of `server/observe.ts`. */
const row = Type.Object({
  at: whole(),
  projectId: orNull(Type.String({ pattern: `^${UUID}$` })),
  method: text(20),
  host: text(255),
  path: text(4096),
  /** Machines of an earlier version do not say it. */
  canonicalPath: Type.Optional(text(4096)),
  status: Type.Integer({ minimum: 100, maximum: 999 }),
  durationMs: Type.Number({ minimum: 0, maximum: DAY_MS }),
  sizeBytes: orNull(whole()),
  referrer: orNull(text(255)),
  linkedFrom: orNull(text(1000)),
  userAgent: text(300),
  address: text(100),
  isPage: Type.Boolean(),
  weight: Type.Integer({ minimum: 1, maximum: 4096 }),
})

const handed = Type.Object({
  machine,
  /** New for each: one whose answer got lost is sent again. */
  batch: text(100),
  rows: Type.Array(row, { maxItems: 10_000 }),
  /** Requests whose rows found no room. */
  dropped: whole(1e12),
  /** Hosts without a certificate that somebody came to. */
  visited: Type.Optional(Type.Array(text(255), { maxItems: 100 })),
})

export type HandedOver = {
  machine: MachineReport
  batch: string
  rows: Observed[]
  dropped: number
  visited?: string[]
}

/** Clocks of machines differ a little, and what could not be handed over at once is older. */
const AHEAD_MS = 300_000
const OLD_MS = DAY_MS

/**
 * What another machine hands over, with nothing in it that it was not asked for; null for anything else. Rows of another day
 * are left out and counted as dropped.
 */
export function readReport(body: string, now: number): HandedOver | null {
  const value = parsed(body)
  if (!Value.Check(handed, value)) return null
  const { rows, dropped, ...others } = Value.Clean(handed, value) as HandedOver
  const good = rows.filter(({ at }) => at <= now + AHEAD_MS && at >= now - OLD_MS)
  const left = weightOf(rows) - weightOf(good)
  return { ...others, rows: good, dropped: dropped + left }
}

export const weightOf = (rows: readonly Observed[]): number =>
  rows.reduce((sum, { weight }) => sum + weight, 0)

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
