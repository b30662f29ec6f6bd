import { describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { nextRun } from './next-run.ts'
import { parseCron } from './parse.ts'
import { findZone } from './zone.ts'

const CRONS =
  `* * * * *|*/5 * * * *|*/7 * * * *|0 * * * *|30 * * * *|59 * * * *|15,45 * * * *|0-10 * * * *|10-50/20 * * * *
*/30 */2 * * *|0 */3 * * *|0 *,5 * * *|15 */12 * * *|0 0 * * *|1 0 * * *|30 0 * * *|0 1 * * *|30 1 * * *|59 1 * * *|0 2 * * *
15 2 * * *|30 2 * * *|45 2 * * *|0 3 * * *|30 3 * * *|0 0-23 * * *|*/15 0-23 * * *|*/15 2 * * *|* 2 * * *|* 1 * * *|* 1,2 * * *
0,30 2,3 * * *|*/10 1-3 * * *|59 23 * * *|0 12 * * *|0 0 1 * *|0 0 31 * *|30 2 31 * *|0 0 28-31 * *|0 0 29 2 *|30 1 28 2 *|0 0 * 2 *
0 0 * * 0|0 0 * * 7|30 2 * * sun|15 1 * * sat,sun|0 9 * * 1-5|0 9 * * mon-fri|0 2 13 * 5|30 2 29 3 0|30 2 1 * 0|0 2 */2 * 0|0 2 1-7 * */7
0 0 1 jan *|0 0 1 1,4,7,10 *|30 2 * 3 *|30 1 * 10,11 *|0 2 * 4,10 sun|@hourly|@daily|@weekly|@monthly|@yearly|5 0 30 4 *|* 0 * * *`
    .split(/[|\n]/)
    .map((one) => one.trim())

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'Asia/Kathmandu']

/** Days on which clocks change somewhere, the end of Februaries, ends of months. */
const DAYS: Record<string, string[]> = {
  'Europe/Berlin': ['2027-03-28', '2027-10-31'],
  'America/New_York': ['2027-03-14', '2027-11-07'],
  'Australia/Lord_Howe': ['2027-04-04', '2027-10-03'],
  'Africa/Cairo': ['2027-04-30', '2027-10-29'],
  'Asia/Kathmandu': ['2027-03-28', '2027-10-31'],
}
const EVERYWHERE = ['2027-02-28', '2028-02-29', '2027-12-31']

test('there are at least sixty expressions', () => expect(new Set(CRONS).size).toBeGreaterThanOrEqual(60))

describe.each(ZONES)('%s', (zoneName) => {
  const days = [...(DAYS[zoneName] ?? []), ...EVERYWHERE]
  const windows = days.map((day) => minutesAround(zoneName, Date.parse(`${day}T12:00:00Z`)))

  test.each(CRONS)('%s, as minute by minute', (cron) => {
    for (const window of windows) {
      const expected = runsOf(cron, window)
      expect(runsBetween(cron, zoneName, window.from, window.to).map(iso)).toEqual(expected.map(iso))
    }
  })

  test('the clocks change where they are said to', () => {
    const changes = windows.slice(0, 2).map(({ locals }) => hasChange(locals))
    expect(changes).toEqual(zoneName === 'Asia/Kathmandu' ? [false, false] : [true, true])
  })
})

const iso = (time: number) => new Date(time).toISOString()

function next(text: string, zoneName: string, after: number): number | null {
  const parsed = parseCron(text)
  const zone = findZone(zoneName)
  if (!parsed.ok || zone === undefined) throw new Error(`${text} in ${zoneName}`)
  return nextRun(parsed.cron, zone, after)
}

function runsBetween(cron: string, zone: string, from: number, to: number): number[] {
  const runs: number[] = []
  for (let at = next(cron, zone, from - 1); at !== null && at < to; at = next(cron, zone, at)) runs.push(at)
  return runs
}

/** Each minute of three days, and what the clocks show then. */
type Window = { from: number; to: number; locals: number[] }

function minutesAround(timeZone: string, noon: number): Window {
  const [from, to] = [noon - 36 * HOUR_MS, noon + 36 * HOUR_MS]
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  const locals: number[] = []
  for (let time = from; time < to; time += MINUTE_MS)
    locals.push(Date.parse(`${format.format(time).replace(' ', 'T')}Z`))
  return { from, to, locals }
}

const hasChange = (locals: readonly number[]) =>
  locals.some((local, i) => i > 0 && local - (locals[i - 1] ?? 0) !== MINUTE_MS)

/** The oracle: it looks at every minute, and knows nothing of the code that it judges. */
function runsOf(cron: string, { from, locals }: Window): number[] {
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

describe('what lies far away', () => {
  const far: [cron: string, zone: string, after: string, expected: string][] = [
    ['0 0 29 2 *', 'UTC', '2028-02-29T00:00:00Z', '2032-02-29T00:00:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
    // On a Sunday: both have to match where the day of week begins with *.
    ['0 0 29 2 */7', 'UTC', '2032-03-01T00:00:00Z', '2060-02-29T00:00:00.000Z'],
    ['0 0 29 2 */7', 'UTC', '2088-03-01T00:00:00Z', '2128-02-29T00:00:00.000Z'],
    ['0 12 25 12 *', 'America/New_York', '2027-12-25T17:00:00Z', '2028-12-25T17:00:00.000Z'],
    // Far behind several changes of the clocks, by real time.
    ['30 * 4 7 *', 'America/New_York', '2027-12-01T00:00:00Z', '2028-07-04T04:30:00.000Z'],
    ['0 */6 1 1 *', 'Europe/Berlin', '2027-01-01T17:00:00Z', '2027-12-31T23:00:00.000Z'],
    // Samoa had no 30 December 2011.
    ['0 8 30 12 *', 'Pacific/Apia', '2011-12-01T00:00:00Z', '2011-12-30T10:00:00.000Z'],
    ['0 * 30 12 *', 'Pacific/Apia', '2011-12-01T00:00:00Z', '2012-12-29T10:00:00.000Z'],
    ['* * * * *', 'UTC', '2027-01-01T00:00:59.999Z', '2027-01-01T00:01:00.000Z'],
    ['* * * * *', 'Asia/Kathmandu', '1970-01-01T00:00:00Z', '1970-01-01T00:01:00.000Z'],
  ]
  test.each(far)('%s in %s after %s', (cron, zone, after, expected) => {
    expect(iso(next(cron, zone, Date.parse(after)) ?? 0)).toBe(expected)
  })

  test('nothing comes behind the year 9999', () => {
    expect(next('* * * * *', 'UTC', Date.parse('9999-12-31T23:59:00Z'))).toBeNull()
    expect(next('0 0 29 2 *', 'Europe/Berlin', Date.parse('9999-01-01T00:00:00Z'))).toBeNull()
  })
})

test('zones are names of the IANA database', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'EST5EDT'])
    expect(findZone(name)).toBeDefined()
  for (const name of ['', 'Mars/Olympus', '+02:00', 'UTC+2', 'Europe/Berlin ', '../etc', 'x'.repeat(100)])
    expect(findZone(name)).toBeUndefined()
})

describe('for any expression and time', () => {
  test('the next run is later, matches, and nothing matches before it', () => {
    const random = seeded(20271128)
    for (let i = 0; i < 40; i += 1) {
      const cron = anyCron(random)
      const zoneName = ZONES[Math.floor(random() * ZONES.length)] ?? ''
      const after = Date.UTC(2020, 0) + Math.floor(random() * 20 * 365 * DAY_MS)
      const parsed = parseCron(cron)
      if (!parsed.ok) continue
      const found = next(cron, zoneName, after)
      expect(found).toBeGreaterThan(after)
      const start = Math.ceil((after + 1) / MINUTE_MS) * MINUTE_MS
      const window = minutesFrom(zoneName, start - DAY_MS, 3)
      const [expected] = runsOf(cron, window).filter((time) => time > after)
      if (expected !== undefined)
        expect([cron, zoneName, iso(found ?? 0)]).toEqual([cron, zoneName, iso(expected)])
      else expect(found).toBeGreaterThanOrEqual(window.to)
    }
  })
})

function minutesFrom(timeZone: string, from: number, days: number): Window {
  const { locals } = minutesAround(timeZone, from + 36 * HOUR_MS)
  return { from, to: from + days * DAY_MS, locals }
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

function anyCron(random: () => number): string {
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
  const field = (low: number, high: number) => {
    const kind = random()
    if (kind < 0.35) return '*'
    if (kind < 0.5) return `*/${between(2, Math.min(9, high))}`
    const from = between(low, high)
    if (kind < 0.7) return String(from)
    const range = `${from}-${between(from, high)}`
    if (kind < 0.8) return range
    if (kind < 0.9) return `${range}/${between(1, 5)}`
    return `${from},${between(low, high)}`
  }
  return [field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7)].join(' ')
}
