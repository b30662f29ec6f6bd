import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Machine } from '../../context.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { type StoreApp, storeApp } from '../../testing/store-app.ts'
import { tidyLog } from './follower-duties.ts'

/** A machine that follows tidies its own request log: nobody else does. */
let app: StoreApp
beforeEach(async () => {
  app = await storeApp({ LOG_RETENTION_DAYS: '1' })
  app.ctx.requestLog.take({
    ...{ at: app.ctx.now(), projectId: null, method: 'GET', host: 'docs.example', path: '/a', status: 200 },
    ...{ durationMs: 1, sizeBytes: 1, referrer: null, linkedFrom: null, userAgent: 'Firefox/1' },
    ...{ address: '203.0.113.9', isPage: true, weight: 1 },
  })
  app.advance(2 * DAY_MS)
})
afterEach(() => app.close())

const state = { number: 7, unshippedBytes: 0, lagMs: 0, isStoreUp: true, error: null }
const tidied = async (more: Partial<Machine>): Promise<unknown> => {
  Object.assign(app.ctx.machine ?? {}, more)
  await tidyLog(app.ctx)
  app.ctx.requestLog.flush()
  const count = (table: string) =>
    app.ctx.requestLog.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n
  return [count('requests'), count('visitors'), count('salts')]
}

test('what is older than it may be goes, and so do the hashes of visitors', async () =>
  expect(await tidied({ role: () => 'node', state: () => state })).toEqual([0, 0, 0]))

test('not on the primary, whose upkeep does it', async () =>
  expect(await tidied({ role: () => 'primary', state: () => state })).toEqual([1, 1, 1]))

test('not before there is a copy of the database', async () =>
  expect(await tidied({ role: () => 'standby', state: () => ({ ...state, number: 0 }) })).toEqual([1, 1, 1]))
