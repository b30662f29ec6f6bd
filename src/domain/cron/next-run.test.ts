import { describe, expect, test } from 'bun:test'
import { MINUTE_MS } from '../durations.ts'
import { iso, minutesAround, next, runsOf, ZONES } from './oracle.fixture.ts'
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

function runsBetween(cron: string, zone: string, from: number, to: number): number[] {
  const runs: number[] = []
  for (let at = next(cron, zone, from - 1); at !== null && at < to; at = next(cron, zone, at)) runs.push(at)
  return runs
}

const hasChange = (locals: readonly number[]) =>
  locals.some((local, i) => i > 0 && local - (locals[i - 1] ?? 0) !== MINUTE_MS)

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
