import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../config/config.ts'
import { DAY_MS, MINUTE_MS } from '../domain/durations.ts'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { makeBackup } from '../modules/backups/service.ts'
import { findProblems } from '../modules/deployments/check.ts'
import { findFile } from '../modules/files/service.ts'
import { claimNow } from '../modules/schedules/claims.ts'
import { clockOf } from '../modules/schedules/clock.ts'
import { listSchedulesOf } from '../modules/schedules/queries.ts'
import { fileSource, restoreBackup } from '../platform/restore.ts'
import { serveStoredFile } from '../site/serve-stored-file.ts'
import { putFile } from '../testing/put-file.ts'
import { scheduleApp } from '../testing/schedule-app.ts'
import { NOON } from '../testing/test-app.ts'
import { openContext } from './open-context.ts'

/** A backup has the files of a project and its schedules. contract 14.2, 14.6. */
const root = mkdtempSync(join(tmpdir(), 'svc-restored-'))
afterAll(() => rmSync(root, { recursive: true }))

const LARGE = Buffer.alloc(2_000_000, 'large')

test('a restored workspace has its files and schedules; what ran and what passed meanwhile is treated as after a crash', async () => {
  const SECRET_KEY = Buffer.alloc(32, 3).toString('base64')
  const one = await scheduleApp({ SECRET_KEY, BACKUP_DIR: join(root, 'backups') }, { isOnDisk: true })
  const { app, projectId } = one
  await putFile(app.ctx, projectId, 'notes/small.txt', 'small', 'text/plain')
  await putFile(app.ctx, projectId, 'videos/1/large.bin', LARGE)
  const daily = await one.make({
    name: 'daily',
    cron: '@daily',
    timezone: 'Asia/Kathmandu',
    description: 'x',
  })
  const paused = await one.make({ name: 'paused', cron: '@hourly', isEnabled: false })
  const running = await one.make({ name: 'running', cron: '@yearly' })
  claimNow(app.ctx.db, running.id, NOON)
  const before = listSchedulesOf(app.ctx.db.orm, projectId)
  const made = await makeBackup(app.ctx, operatorGrant())
  const dataDir = join(root, 'restored')
  await restoreBackup(fileSource(join(root, 'backups', made?.name ?? '')), dataDir, 'x')
  one.close()

  const env = { DATA_DIR: dataDir, SECRET_KEY, LOG_LEVEL: 'silent' }
  const opened = await openContext(loadConfig({ env }), 'test', () => {})
  const later = NOON + 2 * DAY_MS
  const ctx = { ...opened.ctx, now: () => later }
  const bytesOf = async (path: string) => {
    const file = findFile(ctx, projectId, path)
    if (file === undefined) return null
    const request = new Request('http://x/')
    return Buffer.from(await (await serveStoredFile(ctx, request, file, { cacheControl: '' })).arrayBuffer())
  }
  expect((await bytesOf('notes/small.txt'))?.toString()).toBe('small')
  expect((await bytesOf('videos/1/large.bin'))?.equals(LARGE)).toBe(true)
  expect(findFile(ctx, projectId, 'notes/small.txt')).toMatchObject({ contentType: 'text/plain', size: 5 })
  const problems: string[] = []
  for await (const { detail } of findProblems(ctx)) problems.push(detail)
  expect(problems).toEqual([])

  expect(listSchedulesOf(ctx.db.orm, projectId)).toEqual(before)
  await clockOf(ctx).start()
  const found = new Map(listSchedulesOf(ctx.db.orm, projectId).map((row) => [row.id, row]))
  expect(found.get(daily.id)).toMatchObject({ nextRunAt: later + 6 * 60 * MINUTE_MS + 15 * MINUTE_MS })
  expect(found.get(paused.id)).toMatchObject({ nextRunAt: null, lastStatus: null })
  expect(found.get(running.id)).toMatchObject({ firedAt: null, lastStatus: 'interrupted' })
  await clockOf(ctx).stop()
  opened.close()
})
