import type { Context } from '../../context.ts'
import { startOf } from '../../db/request-log/sums.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { invalidField } from '../../domain/errors.ts'
import { parseTime } from '../../domain/iso-time.ts'
import type { AnalyticsQuery } from './model.ts'

/** What a query asks for, in whole hours or days (UTC). */
export type Asked = { from: number; to: number; interval: 'hour' | 'day'; limit: number }

export const BUCKET_MS = { hour: HOUR_MS, day: DAY_MS } as const

const DEFAULT_DAYS = 30
const DEFAULT_NAMES = 20
const MAX_NAMES = 100
/** Shorter spans are shown by the hour unless the query says otherwise. */
const HOURS_UP_TO_MS = 3 * DAY_MS
/** Longer series are shown by the day. */
const MAX_HOURS = 31 * 24
const MAX_DAYS = 400

export function parseQuery(ctx: Context, query: AnalyticsQuery): Asked {
  const to = parseTime('to', query.to) ?? ctx.now() + 1
  const from = parseTime('from', query.from) ?? to - DEFAULT_DAYS * DAY_MS
  if (from >= to) throw invalidField('from', 'A time before `to`')
  const interval = parseInterval(query.interval, to - from)
  const bucketMs = BUCKET_MS[interval]
  const max = interval === 'hour' ? MAX_HOURS : MAX_DAYS
  const asked = {
    from: startOf(from, bucketMs),
    to: endOf(to, bucketMs),
    interval,
    limit: limitOf(query.limit),
  }
  if (asked.to - asked.from > (max + 1) * bucketMs)
    throw invalidField('from', `At most ${max} ${interval}s are shown at once`)
  return asked
}

function parseInterval(text: string | undefined, lengthMs: number): 'hour' | 'day' {
  if (text === undefined || text === '') return lengthMs <= HOURS_UP_TO_MS ? 'hour' : 'day'
  if (text === 'hour' || text === 'day') return text
  throw invalidField('interval', 'hour or day')
}

/** How many names are shown. Throws `invalid`. */
export function limitOf(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_NAMES
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_NAMES) return limit
  throw invalidField('limit', `A whole number from 1 to ${MAX_NAMES}`)
}

export const endOf = (at: number, ms: number): number => Math.ceil(at / ms) * ms
