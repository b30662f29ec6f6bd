import { expect, test } from 'bun:test'
import { iso, minutesAround, next, runsOf, type Window, ZONES } from '../../domain/cron/oracle.fixture.ts'
import { parseCron } from '../../domain/cron/parse.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'

/** For any expression, zone and time. The whole by `npm run test:long`. */
test('the next run is later, matches, and nothing matches before it', () => {
  const random = seededRandom(seedOf('cron'))
  for (let i = 0; i < rounds(30, 1000); i += 1) {
    const cron = anyCron(random)
    const zoneName = ZONES[Math.floor(random() * ZONES.length)] ?? ''
    const after = Date.UTC(2020, 0) + Math.floor(random() * 20 * 365 * DAY_MS)
    if (!parseCron(cron).ok) continue
    const found = next(cron, zoneName, after)
    expect(found).toBeGreaterThan(after)
    const start = Math.ceil((after + 1) / MINUTE_MS) * MINUTE_MS
    const window = minutesFrom(zoneName, start - DAY_MS, 3)
    const [expected] = runsOf(cron, window).filter((time) => time > after)
    if (expected !== undefined)
      expect([cron, zoneName, iso(found ?? 0)]).toEqual([cron, zoneName, iso(expected)])
    else expect(found).toBeGreaterThanOrEqual(window.to)
  }
}, 600_000)

function minutesFrom(timeZone: string, from: number, days: number): Window {
  const { locals } = minutesAround(timeZone, from + 36 * HOUR_MS)
  return { from, to: from + days * DAY_MS, locals }
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

test('any text is read or refused with a sentence, and what is read has a next run', () => {
  const random = seededRandom(seedOf('cron texts'))
  const letters = '0123456789*/,-@ ?LW#.jansu\t\u{1f600}'
  for (let i = 0; i < rounds(2000, 200_000); i += 1) {
    const length = Math.floor(random() * 24)
    const pick = () => letters[Math.floor(random() * letters.length)] ?? ''
    const text = Array.from({ length }, pick).join('')
    const parsed = parseCron(text)
    if (!parsed.ok) expect(parsed.message.length).toBeGreaterThan(10)
    else expect(next(text, 'UTC', 0)).toBeGreaterThan(0)
  }
}, 600_000)
