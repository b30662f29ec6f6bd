import { HOUR_MS, MINUTE_MS } from '../durations.ts'
import { nextRun } from './next-run.ts'
import { parseCron } from './parse.ts'
import { findZone } from './zone.ts'

/** What tests of cron compare with. */

export const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Asia/Kathmandu',
]

export const iso = (time: number) => new Date(time).toISOString()

/** By the code that fires. */
export function next(text: string, zoneName: string, after: number): number | null {
  const parsed = parseCron(text)
  const zone = findZone(zoneName)
  if (!parsed.ok || zone === undefined) throw new Error(`${text} in ${zoneName}`)
  return nextRun(parsed.cron, zone, after)
}

/** Each minute of three days, and what the clocks show then. */
export type Window = { from: number; to: number; locals: number[] }

export function minutesAround(timeZone: string, noon: number): Window {
  const [from, to] = [noon - 36 * HOUR_MS, noon + 36 * HOUR_MS]
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  const locals: number[] = []
  for (let time = from; time < to; time += MINUTE_MS)
    locals.push(Date.parse(`${format.format(time).replace(' ', 'T')}Z`))
  return { from, to, locals }
}

/** The oracle: it looks at every minute, and knows nothing of the code that it judges. */
export function runsOf(cron: string, { from, locals }: Window): number[] {
  const matches = matcherOf(cron)
  const followsRealTime = (fieldsOf(cron)[1] ?? '').startsWith('*')
  const runs: number[] = []
  let latest = locals[0] ?? 0
  for (const [i, local] of locals.entries()) {
    const time = from + i * MINUTE_MS
    if (followsRealTime) {
      if (matches(local)) runs.push(time)
      continue
    }
    const isSecond = i > 0 && local <= latest
    let isSkippedMatch = false
    for (let skipped = latest + MINUTE_MS; i > 0 && skipped < local; skipped += MINUTE_MS)
      isSkippedMatch ||= matches(skipped)
    if (isSkippedMatch || (!isSecond && matches(local))) runs.push(time)
    latest = Math.max(latest, local)
  }
  return runs
}

const WORDS = 'sun mon tue wed thu fri sat'.split(' ')
const MONTH_WORDS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const MACROS: Record<string, string> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
}

const fieldsOf = (cron: string): string[] =>
  (MACROS[cron] ?? cron)
    .replace(/[a-z]{3}/g, (word) =>
      String(WORDS.includes(word) ? WORDS.indexOf(word) : MONTH_WORDS.indexOf(word) + 1),
    )
    .split(' ')

function matcherOf(cron: string): (local: number) => boolean {
  const [minutes, hours, days, months, weekdays] = fieldsOf(cron).map((field, i) => valuesOf(field, i)) as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ]
  const [, , day = '', , weekday = ''] = fieldsOf(cron)
  const isEither = !day.startsWith('*') && !weekday.startsWith('*')
  return (local) => {
    const date = new Date(local)
    if (!minutes.has(date.getUTCMinutes()) || !hours.has(date.getUTCHours())) return false
    if (!months.has(date.getUTCMonth() + 1)) return false
    const isDay = days.has(date.getUTCDate())
    const isWeekday = weekdays.has(date.getUTCDay()) || (date.getUTCDay() === 0 && weekdays.has(7))
    return isEither ? isDay || isWeekday : isDay && isWeekday
  }
}

function valuesOf(field: string, index: number): Set<number> {
  const [low, high] = [
    [0, 59],
    [0, 23],
    [1, 31],
    [1, 12],
    [0, 7],
  ][index] as [number, number]
  const values = Array.from({ length: high + 1 }, (_, value) => value)
  const isIn = (value: number) =>
    field.split(',').some((part) => {
      const [range = '', step = '1'] = part.split('/')
      const [from = low, to = from] = range === '*' ? [low, high] : range.split('-').map(Number)
      return value >= from && value <= to && (value - from) % Number(step) === 0
    })
  return new Set(values.filter(isIn))
}
