import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { ask } from '../../testing/ask.ts'
import { stopAfter } from '../../testing/stop-after.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { removeExpiredOneTimeTokens } from './one-time-tokens.ts'
import { removeExpiredSessions } from './sessions.ts'

/** More than two steps remove. */
const MANY = 1100
const NUMBERS = `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${MANY})`

let app: TestApp
let ann: string
beforeEach(async () => {
  app = await testApp()
  ann = await app.addUser('ann@example.com')
})
afterEach(() => app.close())

const count = (table: string) =>
  app.ctx.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n

function addOldSessions(): void {
  const { sqlite } = app.ctx.db
  sqlite
    .query(`INSERT INTO sessions ${NUMBERS} SELECT 's' || i, ?, '', '', NULL, i, i, NULL FROM numbers`)
    .run(ann)
  sqlite
    .query(`INSERT INTO session_tokens ${NUMBERS} SELECT 't' || i, 's' || i, 'access', i, NULL FROM numbers`)
    .run()
}

test('a session ends with its last token, and lives while it has one', async () => {
  addOldSessions()
  const cookie = await app.cookieOf('ann@example.com')
  // Its access token expires, its refresh token does not.
  app.advance(2 * HOUR_MS)
  await removeExpiredSessions(app.ctx)
  expect([count('sessions'), count('session_tokens')]).toEqual([1, 1])
  const { body } = await ask(app, 'GET', '/api/auth/session', { headers: { cookie } })
  expect(body['user']).toMatchObject({ email: 'ann@example.com' })
  app.advance(31 * DAY_MS)
  await removeExpiredSessions(app.ctx)
  expect([count('sessions'), count('session_tokens')]).toEqual([0, 0])
})

test('removal that was stopped leaves whole sessions, and the next run continues', async () => {
  addOldSessions()
  await removeExpiredSessions(app.ctx, stopAfter(1))
  const left = count('sessions') ?? 0
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(MANY)
  expect(count('session_tokens')).toBe(left)
  await removeExpiredSessions(app.ctx)
  expect([count('sessions'), count('session_tokens')]).toEqual([0, 0])
})

test('expired links are removed, however many, and no others', async () => {
  const add = app.ctx.db.sqlite.query(
    `INSERT INTO one_time_tokens ${NUMBERS} SELECT ?1 || i, 'reset', ?2, NULL, 0, ?3 FROM numbers`,
  )
  add.run('old', ann, app.ctx.now() - 1)
  add.run('good', ann, app.ctx.now() + 1)
  await removeExpiredOneTimeTokens(app.ctx, stopAfter(1))
  expect(count('one_time_tokens')).toBeGreaterThan(MANY)
  await removeExpiredOneTimeTokens(app.ctx)
  expect(count('one_time_tokens')).toBe(MANY)
  expect(count("one_time_tokens WHERE token_hash LIKE 'old%'")).toBe(0)
})
