import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { certificateId } from '../../platform/acme/renewal-info.ts'
import { type AcmeApp, acmeApp } from '../../testing/acme-app.ts'
import { LIFETIME_MS } from '../../testing/acme-authority.ts'
import { NOON } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'

const HOST = 'admin.sites.test'
const THIRD_LEFT = (LIFETIME_MS / 3) * 2

let world: AcmeApp
beforeEach(async () => {
  world = await acmeApp()
  world.ca.renewals.isOffered = true
})
afterEach(() => world.stop())

const desk = () => world.ca.renewals
const asked = () => desk().asked.length
const orders = () => world.ca.ordered.length
const pem = () => world.certificates().all()[0]?.certPem ?? ''
const suggest = (start: number, end: number, retryAfter = '21600') => {
  desk().window = { start: isoTime(NOON + start), end: isoTime(NOON + end), retryAfter }
}
const untilAsked = (times: number) => until(`question ${times}`, () => asked() === times)
const untilOrdered = (times: number) =>
  until(`certificate ${times}`, () => orders() === times && desk().replaced.length === times && pem() !== '')
const file = () => join(world.app.ctx.config.dataDir, 'certs', `host-${HOST}.json`)
const stored = () => (existsSync(file()) ? JSON.parse(readFileSync(file(), 'utf8')) : {})
const untilChosen = () => until('the moment', () => stored().renewal?.at > 0)

test('asked at issue, and by its Retry-After; renewed in the window, naming what it replaces', async () => {
  suggest(10 * DAY_MS, 12 * DAY_MS)
  await untilChosen()
  const id = certificateId(pem())
  expect(desk().asked).toEqual([String(id)])
  const { at } = stored().renewal
  expect([at >= NOON + 10 * DAY_MS, at <= NOON + 12 * DAY_MS]).toEqual([true, true])

  world.advance(6 * HOUR_MS - 1)
  expect(asked()).toBe(1)
  world.advance(1)
  await untilAsked(2)
  expect(stored().renewal.at).toBe(at)

  world.advance(at - world.app.ctx.now() - 1)
  expect(orders()).toBe(1)
  world.advance(1)
  await untilOrdered(2)
  expect(desk().replaced).toEqual([null, String(id)])
})

test('the moment survives a restart, where the authority is asked once more', async () => {
  suggest(10 * DAY_MS, 12 * DAY_MS)
  await untilChosen()
  const { at } = stored().renewal
  await world.restart()
  world.advance(7 * HOUR_MS)
  await untilAsked(2)
  expect([stored().renewal.at, orders()]).toEqual([at, 1])
})

test('a window that moves into the past, as before a revocation, renews at once', async () => {
  suggest(50 * DAY_MS, 52 * DAY_MS, '60')
  await untilChosen()
  suggest(-2 * DAY_MS, -DAY_MS, '60')
  world.advance(MINUTE_MS)
  await untilOrdered(2)
  expect(desk().replaced[1]).not.toBeNull()
})

test('abuse: an authority that wants each certificate renewed at once is obeyed once a day', async () => {
  suggest(-2 * DAY_MS, -DAY_MS, '60')
  await untilOrdered(2)
  await untilAsked(2)
  for (let hour = 1; hour < 24; hour++) world.advance(HOUR_MS)
  expect(orders()).toBe(2)
  world.advance(HOUR_MS)
  await untilOrdered(3)
})

const silent: [what: string, window: AcmeApp['ca']['renewals']['window']][] = [
  ['no suggestion', null],
  ['a window without an end', { start: isoTime(NOON), end: null }],
  ['a window after the end', { start: isoTime(NOON + LIFETIME_MS), end: isoTime(NOON + 2 * LIFETIME_MS) }],
]
test.each(silent)('%s: renewed with a third of the life left', async (_what, window) => {
  desk().window = window
  await untilAsked(1)
  await until('the first certificate', () => pem() !== '')
  world.advance(THIRD_LEFT - 1)
  expect(orders()).toBe(1)
  world.advance(1)
  await untilOrdered(2)
})

test('an authority without renewalInfo is asked nothing, and told nothing', async () => {
  await world.stop()
  world = await acmeApp()
  await untilOrdered(1)
  world.advance(THIRD_LEFT)
  await untilOrdered(2)
  expect([asked(), desk().replaced]).toEqual([0, [null, null]])
})

test('an order whose predecessor was replaced already is made without naming it', async () => {
  suggest(10 * DAY_MS, 12 * DAY_MS)
  await untilChosen()
  desk().replaced.push(certificateId(pem()))
  world.advance(12 * DAY_MS)
  await until('the renewal', () => desk().replaced.length === 3)
  expect(desk().replaced[2]).toBeNull()
  await until('the certificate', () => stored().notBefore === NOON + 12 * DAY_MS)
})

test('a certificate of a version that did not ask is asked about', async () => {
  await untilAsked(1)
  await world.certificates().stop()
  const { renewal: _, ...before } = stored()
  writeFileSync(file(), JSON.stringify(before))
  suggest(10 * DAY_MS, 12 * DAY_MS)
  await world.restart()
  await untilChosen()
  expect(orders()).toBe(1)
})
