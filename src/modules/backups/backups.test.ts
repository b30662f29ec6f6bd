import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
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
import { objectSource } from '../../platform/backup-object.ts'
import { openObjectStore } from '../../platform/object-store.ts'
import { fileSource, restoreBackup } from '../../platform/restore.ts'
import { type OpenedContext, openContext } from '../../server/open-context.ts'
import { startUpkeep } from '../../server/upkeep.ts'
import { ask } from '../../testing/ask.ts'
import { type ObjectServer, STORE_KEYS, startObjectServer } from '../../testing/object-server.ts'
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
  await restoreBackup(fileSource(join(folder, made?.name ?? '')), restored, 'x')
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
  await expect(makeBackupWhenDue(ctx)).rejects.toThrow('The database file was moved')
  await makeBackupWhenDue(ctx)
  expect(await view()).toMatchObject({
    backups: [],
    running: null,
    lastFailure: {
      at: '2026-11-20T12:00:00.000Z',
      message: expect.stringContaining('The database file was moved'),
    },
  })
  at += HOUR_MS
  await expect(makeBackupWhenDue(ctx)).rejects.toThrow('The database file was moved')
})

test('a folder that cannot be made is a failure like any other', async () => {
  mkdirSync(folder)
  const place = mkdtempSync(join(folder, 'place-'))
  ctx = { ...ctx, config: { ...ctx.config, backupDir: { text: join(place, 'backups'), store: null } } }
  rmSync(place, { recursive: true })
  writeFileSync(place, 'a file where the folder was')
  await expect(makeBackup(ctx, operatorGrant())).rejects.toThrow('The backup failed: ')
  const lastFailure = { at: '2026-11-20T12:00:00.000Z', message: expect.stringContaining('ENOTDIR') }
  expect(await view()).toMatchObject({ backups: [], running: null, lastFailure })
})

test('stopping the server stops the backup, and its leftovers are removed a day later', async () => {
  const outcome = makeBackup(ctx, operatorGrant()).catch((error: Error) => error.message)
  // Viewed and stopped in one turn, in this order: a moment later it might be done.
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
  await expect(makeBackupWhenDue(ctx)).rejects.toThrow('The database file was moved')
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
    last: null,
    lastDrill: null,
  })
  const refused = await ask(app, 'POST', '/api/backups', { as })
  expect([refused.status, refused.body['error']]).toEqual([409, 'BACKUPS_NOT_SET_UP'])
  await makeBackupWhenDue(app.ctx)
  app.close()
})

describe('in an object store', () => {
  let server: ObjectServer
  beforeEach(async () => {
    server = startObjectServer()
    const env = {
      DATA_DIR: ctx.config.dataDir,
      BACKUP_DIR: 's3://bucket/of svc/',
      BACKUP_KEEP: '2',
      STORE_ENDPOINT: server.endpoint,
      STORE_ACCESS_KEY: STORE_KEYS.accessKey,
      STORE_SECRET_KEY: STORE_KEYS.secretKey,
      STORE_TIMEOUT_SECONDS: '1',
    }
    ctx = { ...ctx, config: loadConfig({ env }) }
  })
  afterEach(() => server.stop())
  const keys = () => [...server.objects.keys()].sort()
  const foreign = [
    'of svc/svc-notes.tar',
    'of svc/x/svc-2020-01-01T00-00-00Z.tar',
    'svc-2020-01-01T00-00-00Z.tar',
  ]
  const putForeign = () => {
    for (const key of foreign) server.objects.set(key, { bytes: new Uint8Array(1), headers: {} })
  }

  test('a backup made now is listed with its size, and can be restored', async () => {
    const made = await makeBackup(ctx, operatorGrant())
    const sizeBytes = server.objects.get('of svc/svc-2026-11-20T12-00-00Z.tar')?.bytes.length ?? 0
    expect(made).toEqual({
      name: 'svc-2026-11-20T12-00-00Z.tar',
      sizeBytes,
      createdAt: '2026-11-20T12:00:00.000Z',
    })
    expect(await view()).toMatchObject({ directory: 's3://bucket/of svc/', backups: [made] })
    const own = {
      bucket: 'bucket',
      prefix: 'of svc/',
      endpoint: server.endpoint,
      timeoutMs: 1000,
      writer: 'w',
    }
    const store = openObjectStore({ ...STORE_KEYS, ...own, now: Date.now })
    const restored = join(folder, '..', 'restored')
    await restoreBackup(objectSource(store, made?.name ?? '', 'x'), restored, 'x')
    expect(readdirSync(restored).sort()).toEqual(['secret.key', 'svc.db'])
    expect(existsSync(folder)).toBe(false)
  })

  test('they are made when due, the newest are kept, and other objects stay', async () => {
    putForeign()
    for (let day = 0; day < 3; day++) {
      await makeBackupWhenDue(ctx)
      at += 24 * HOUR_MS
    }
    at -= HOUR_MS
    await makeBackupWhenDue(ctx)
    expect(keys()).toEqual(
      [...foreign, 'of svc/svc-2026-11-21T12-00-00Z.tar', 'of svc/svc-2026-11-22T12-00-00Z.tar'].sort(),
    )
    expect(await newestBackupAt(ctx)).toBe(NOON + 48 * HOUR_MS)
  })

  test('while the store is away figures are answered, and the failure is shown and tried an hour later', async () => {
    await makeBackup(ctx, operatorGrant())
    at += 25 * HOUR_MS
    server.fault = () => ({ status: 503, code: 'SlowDown' })
    await expect(makeBackupWhenDue(ctx)).rejects.toThrow('the object store cannot answer now (503')
    const asked = server.requests.length
    expect(await newestBackupAt(ctx)).toBe(NOON)
    await makeBackupWhenDue(ctx)
    expect(server.requests).toHaveLength(asked)
    server.fault = () => undefined
    expect(await view()).toMatchObject({
      backups: [{}],
      lastFailure: { at: '2026-11-21T13:00:00.000Z', message: expect.stringContaining('cannot answer now') },
    })
    at += HOUR_MS
    await makeBackupWhenDue(ctx)
    expect(await view()).toMatchObject({ backups: [{}, {}], lastFailure: null })
  })

  test('a list that is refused is told, and makes no backup each hour', async () => {
    server.fault = ({ query }) => (query.has('list-type') ? { status: 403, code: 'AccessDenied' } : undefined)
    const message = expect.stringContaining('cannot be listed: the key in STORE_ACCESS_KEY may not list')
    expect(await view()).toMatchObject({ backups: [], lastFailure: { message } })
    await expect(makeBackupWhenDue(ctx)).rejects.toThrow('may not list')
    at += 2 * HOUR_MS
    await makeBackupWhenDue(ctx)
    expect(keys()).toHaveLength(1)
  })

  test('uploads that a killed backup left a day ago are ended, and no others', async () => {
    const begin = (key: string, startedAt: number) =>
      server.uploads.set(`${key} ${startedAt}`, { key, startedAt, headers: {}, parts: new Map() })
    const own = 'of svc/svc-2026-11-18T12-00-00Z.tar'
    begin(own, NOON - 25 * HOUR_MS)
    begin(own, NOON - 23 * HOUR_MS)
    begin('of svc/svc-notes.tar', NOON - 25 * HOUR_MS)
    await makeBackup(ctx, operatorGrant())
    expect([...server.uploads.values()].map(({ key, startedAt }) => [key, startedAt])).toEqual([
      [own, NOON - 23 * HOUR_MS],
      ['of svc/svc-notes.tar', NOON - 25 * HOUR_MS],
    ])
  })

  test('a stopped backup leaves no upload', async () => {
    const pack = join(ctx.config.dataDir, 'blobs', 'packs', 'large.pack')
    writeFileSync(pack, '')
    truncateSync(pack, 64 * 2 ** 20)
    const outcome = makeBackup(ctx, operatorGrant()).catch((error: Error) => error.message)
    await until('the first part', () => [...server.uploads.values()].some(({ parts }) => parts.size > 0))
    await stopBackups(ctx)
    expect(await outcome).toContain('it was interrupted')
    expect([server.uploads.size, server.objects.size]).toEqual([0, 0])
    rmSync(pack)
  })
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
