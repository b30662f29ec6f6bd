import { afterAll, beforeEach, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../config/config.ts'
import type { Context } from '../../context.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { BACKUP_MARK } from '../../platform/backup.ts'
import { restoreBackup } from '../../platform/restore.ts'
import { type OpenedContext, openContext } from '../../server/open-context.ts'
import { startUpkeep } from '../../server/upkeep.ts'
import { ask } from '../../testing/ask.ts'
import { NOON, testApp } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'
import { operatorGrant } from '../auth/authorize.ts'
import {
  isBackupRunning,
  listBackups,
  makeBackup,
  makeBackupWhenDue,
  newestBackupAt,
  stopBackups,
} from './service.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-backups-'))
const opened: OpenedContext[] = []
afterAll(() => {
  for (const { close } of opened) close()
  rmSync(root, { recursive: true })
})

let ctx: Context
let folder: string
let at: number
beforeEach(async () => {
  const place = mkdtempSync(join(root, 'one-'))
  folder = join(place, 'backups')
  at = NOON
  const env = { DATA_DIR: join(place, 'data'), BACKUP_DIR: folder, BACKUP_KEEP: '2', LOG_LEVEL: 'silent' }
  const one = await openContext(loadConfig({ env }), 'test', () => {})
  opened.push(one)
  ctx = { ...one.ctx, now: () => at }
})

const names = () => readdirSync(folder).sort()
const view = () => listBackups(ctx, operatorGrant())

test('a backup made now can be restored; it does not contain the request log', async () => {
  ctx.requestLog.db.sqlite.query('SELECT 1').get()
  const made = await makeBackup(ctx, operatorGrant())
  expect(made).toEqual({
    name: 'svc-2026-11-20T12-00-00Z.tar',
    sizeBytes: expect.any(Number),
    createdAt: '2026-11-20T12:00:00.000Z',
  })
  expect((await view()).backups).toEqual(made === undefined ? [] : [made])
  const restored = join(folder, '..', 'restored')
  await restoreBackup(join(folder, made?.name ?? ''), restored, 'x')
  expect(readdirSync(restored).sort()).toEqual(['secret.key', 'svc.db'])
  expect(existsSync(join(ctx.config.dataDir, 'logs.db'))).toBe(true)
})

test('requests during a backup get the same backup', async () => {
  const [one, two] = await Promise.all([makeBackup(ctx, operatorGrant()), makeBackup(ctx, operatorGrant())])
  expect(one).toEqual(two)
  expect(names()).toHaveLength(1)
})

test('a backup is made when the last is old enough; the newest are kept, and so are foreign files', async () => {
  await makeBackupWhenDue(ctx)
  writeFileSync(join(folder, 'svc-notes.tar'), 'mine')
  at += 23 * HOUR_MS
  await makeBackupWhenDue(ctx)
  expect(names()).toEqual(['svc-2026-11-20T12-00-00Z.tar', 'svc-notes.tar'])
  for (let day = 0; day < 2; day++) {
    at += 24 * HOUR_MS
    await makeBackupWhenDue(ctx)
  }
  expect(names()).toEqual(['svc-2026-11-22T11-00-00Z.tar', 'svc-2026-11-23T11-00-00Z.tar', 'svc-notes.tar'])
})

test('a backup from when the clock was a year ahead neither prevents nor replaces a new one', async () => {
  at += 365 * 24 * HOUR_MS
  for (let i = 0; i < 2; i++) {
    await makeBackup(ctx, operatorGrant())
    at += HOUR_MS
  }
  at = NOON
  await makeBackupWhenDue(ctx)
  expect(names()).toEqual(['svc-2026-11-20T12-00-00Z.tar', 'svc-2027-11-20T13-00-00Z.tar'])
  expect(await newestBackupAt(ctx)).toBe(NOON)
  at += HOUR_MS
  await makeBackupWhenDue(ctx)
  expect(names()).toHaveLength(2)
  at += 23 * HOUR_MS
  await makeBackupWhenDue(ctx)
  expect(names()).toEqual(['svc-2026-11-20T12-00-00Z.tar', 'svc-2026-11-21T12-00-00Z.tar'])
})

test('a failure is reported, and tried again an hour later', async () => {
  rmSync(join(ctx.config.dataDir, 'svc.db'))
  await expect(makeBackupWhenDue(ctx)).rejects.toThrow('there is no svc.db')
  await makeBackupWhenDue(ctx)
  expect(await view()).toMatchObject({
    backups: [],
    running: null,
    lastFailure: { at: '2026-11-20T12:00:00.000Z', message: expect.stringContaining('there is no svc.db') },
  })
  at += HOUR_MS
  await expect(makeBackupWhenDue(ctx)).rejects.toThrow('there is no svc.db')
})

test('a folder that cannot be made is a failure like any other', async () => {
  mkdirSync(folder)
  const place = mkdtempSync(join(folder, 'place-'))
  ctx = { ...ctx, config: { ...ctx.config, backupDir: join(place, 'backups') } }
  rmSync(place, { recursive: true })
  writeFileSync(place, 'a file where the folder was')
  await expect(makeBackup(ctx, operatorGrant())).rejects.toThrow('The backup failed: ')
  const lastFailure = { at: '2026-11-20T12:00:00.000Z', message: expect.stringContaining('ENOTDIR') }
  expect(await view()).toMatchObject({ backups: [], running: null, lastFailure })
})

test('stopping the server stops the backup, and its leftovers are removed a day later', async () => {
  const outcome = makeBackup(ctx, operatorGrant()).catch((error: Error) => error.message)
  // Viewed and stopped in one turn: a moment later it might be done.
  const [{ running }] = await Promise.all([view(), stopBackups(ctx)])
  expect(running).toEqual({ startedAt: '2026-11-20T12:00:00.000Z' })
  expect(await outcome).toStartWith('The backup failed')
  const left = join(folder, 'svc-2026-11-18T12-00-00Z.tar.01-ab.partial')
  const mark = join(ctx.config.dataDir, `${BACKUP_MARK}-01-ab`)
  const copy = join(ctx.config.dataDir, 'tmp', 'backup-01-ab.db')
  const fresh = join(ctx.config.dataDir, 'tmp', 'backup-02.db')
  const ofAhead = join(ctx.config.dataDir, 'tmp', 'backup-03.db')
  mkdirSync(join(ctx.config.dataDir, 'tmp'), { recursive: true })
  for (const path of [left, mark, copy, fresh, ofAhead]) writeFileSync(path, '')
  for (const path of [left, mark, copy]) utimesSync(path, NOON / 1000 - 90_000, NOON / 1000 - 90_000)
  utimesSync(fresh, NOON / 1000, NOON / 1000)
  utimesSync(ofAhead, NOON / 1000 + 90_000, NOON / 1000 + 90_000)
  await makeBackupWhenDue(ctx)
  expect([left, mark, copy, fresh, ofAhead].map(existsSync)).toEqual([false, false, false, true, false])
})

test('leftovers of killed backups are removed even if the next fails or automatic backups are off', async () => {
  const dataDir = ctx.config.dataDir
  const mark = join(dataDir, `${BACKUP_MARK}-01-ab`)
  const leave = () => {
    writeFileSync(mark, '')
    utimesSync(mark, NOON / 1000 - 90_000, NOON / 1000 - 90_000)
  }
  leave()
  await makeBackupWhenDue({ ...ctx, config: { ...ctx.config, backupDir: null } })
  expect(existsSync(mark)).toBe(false)
  leave()
  rmSync(join(dataDir, 'svc.db'))
  await expect(makeBackupWhenDue(ctx)).rejects.toThrow('there is no svc.db')
  expect(existsSync(mark)).toBe(false)
})

test('a stopped backup removes all its files', async () => {
  // Enough data that the backup is still running.
  const pack = join(ctx.config.dataDir, 'blobs', 'packs', 'large.pack')
  writeFileSync(pack, '')
  truncateSync(pack, 1024 ** 3)
  const outcome = makeBackup(ctx, operatorGrant()).catch((error: Error) => error.message)
  await until('the start of the backup', () =>
    readdirSync(ctx.config.dataDir).some((name) => name.startsWith(BACKUP_MARK)),
  )
  await stopBackups(ctx)
  expect(await outcome).toContain('it was interrupted')
  expect(names()).toEqual([])
  expect(readdirSync(ctx.config.dataDir).filter((name) => name.startsWith(BACKUP_MARK))).toEqual([])
  expect(readdirSync(join(ctx.config.dataDir, 'tmp'))).toEqual([])
  rmSync(pack)
})

test('nothing is freed while a backup reads; a stale marker is ignored', async () => {
  const app = await testApp()
  const { dataDir } = app.ctx.config
  const leftover = join(dataDir, 'blobs', 'packs', 'left-over.pack')
  const mark = join(dataDir, BACKUP_MARK)
  writeFileSync(leftover, 'x')
  writeFileSync(mark, '')
  const upkeepAt = async (touchedAt: number) => {
    utimesSync(mark, touchedAt / 1000, touchedAt / 1000)
    const running = isBackupRunning(app.ctx)
    await startUpkeep(app.ctx)()
    return [running, existsSync(leftover)]
  }
  expect(await upkeepAt(NOON - 4 * 60_000)).toEqual([true, true])
  // Another backup has ended or started meanwhile: each has its own marker.
  const other = `${mark}-other`
  writeFileSync(other, '')
  utimesSync(other, NOON / 1000, NOON / 1000)
  expect(await upkeepAt(NOON - 6 * 60_000)).toEqual([true, true])
  rmSync(other)
  // The clock was ahead when the marker was renewed.
  expect(await upkeepAt(NOON + 6 * 60_000)).toEqual([false, false])
  writeFileSync(leftover, 'x')
  expect(await upkeepAt(NOON - 6 * 60_000)).toEqual([false, false])
  app.close()
})

test('without BACKUP_DIR there are no backups, and the error says so', async () => {
  const app = await testApp()
  await app.addUser('root@example.com', 'admin')
  const as = 'root@example.com'
  expect((await ask(app, 'GET', '/api/backups', { as })).body).toEqual({
    directory: null,
    everyHours: 24,
    keep: 7,
    backups: [],
    running: null,
    lastFailure: null,
  })
  const refused = await ask(app, 'POST', '/api/backups', { as })
  expect([refused.status, refused.body['error']]).toEqual([409, 'BACKUPS_NOT_SET_UP'])
  await makeBackupWhenDue(app.ctx)
  app.close()
})

test('POST answers with the backup', async () => {
  const app = await testApp({ BACKUP_DIR: folder })
  await app.addUser('root@example.com', 'admin')
  app.ctx.db.sqlite.query('VACUUM INTO ?').run(join(app.ctx.config.dataDir, 'svc.db'))
  const made = await ask(app, 'POST', '/api/backups', { as: 'root@example.com' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ name: 'svc-2026-11-20T12-00-00Z.tar' })
  const audit = await ask(app, 'GET', '/api/audit?action=backup.create', { as: 'root@example.com' })
  expect(audit.body['data']).toHaveLength(1)
  expect(await (await app.call('GET', '/metrics')).text()).toContain(
    `svc_backup_timestamp_seconds ${NOON / 1000}\n`,
  )
  app.close()
})
