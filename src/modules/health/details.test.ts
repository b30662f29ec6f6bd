import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '../../domain/durations.ts'
import { ask } from '../../testing/ask.ts'
import { mailServer } from '../../testing/mail-server.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { storeApp } from '../../testing/store-app.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { noteReport } from '../machines/reported.ts'
import { sendDueMails } from '../notices/dispatch.ts'

/** contract 16 §6: `GET /api/health/details`. */
const ROOT = 'root@example.com'
let app: TestApp
afterEach(() => app.close())

async function setUp(env: Record<string, string> = {}): Promise<void> {
  app = await testApp(env)
  await app.addUser(ROOT, 'admin')
}
type Check = { name: string; status: string; message: string; at: string | null; value: unknown }
const details = async () => {
  const { status, body } = await ask(app, 'GET', '/api/health/details', { as: ROOT })
  expect(status).toBe(200)
  return body as { status: string; checks: Check[] }
}
const checkOf = async (name: string): Promise<Check | undefined> =>
  (await details()).checks.find((check) => check.name === name)

test('a new server: every part by name, and what is not set up is off', async () => {
  await setUp()
  const { checks } = await details()
  expect(checks.map(({ name }) => name)).toEqual([
    'database',
    'storage',
    'disk',
    'backup',
    'certificates',
    'webhooks',
    'mail',
    'retention',
    'previews',
  ])
  for (const check of checks) {
    expect(Object.keys(check).sort()).toEqual(['at', 'message', 'name', 'status', 'value'])
    expect(check.message).not.toBe('')
  }
  const states = Object.fromEntries(checks.map(({ name, status }) => [name, status]))
  expect(states).toMatchObject({
    database: 'ok',
    storage: 'ok',
    backup: 'off',
    certificates: 'off',
    mail: 'off',
  })
  expect(checks[0]?.at).toBe('2026-11-20T12:00:00.000Z')
  expect(typeof checks[2]?.value).toBe('number')
})

test('GET /api/health says nothing of them', async () => {
  await setUp()
  const { body } = await ask(app, 'GET', '/api/health')
  expect(Object.keys(body).sort()).toEqual(['checks', 'status', 'uptime', 'version'])
  expect(Object.keys(body['checks'] as object).sort()).toEqual(['database', 'storage'])
})

test('backups: none yet, a good one, one that is late, and one that failed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-health-'))
  await setUp({ BACKUP_DIR: folder })
  expect(await checkOf('backup')).toMatchObject({ status: 'warn', value: null })
  writeFileSync(join(folder, 'svc-2026-11-20T11-00-00Z.tar'), '')
  expect(await checkOf('backup')).toMatchObject({ status: 'ok', value: '2026-11-20T11:00:00.000Z' })
  app.advance(3 * DAY_MS)
  expect(await checkOf('backup')).toMatchObject({ status: 'error', at: '2026-11-20T11:00:00.000Z' })
  rmSync(folder, { recursive: true })
  writeFileSync(folder, '')
  await ask(app, 'POST', '/api/backups', { as: ROOT })
  expect(await checkOf('backup')).toMatchObject({
    status: 'error',
    message: expect.stringContaining('The last backup failed'),
    at: '2026-11-23T12:00:00.000Z',
  })
  expect((await details()).status).toBe('error')
  expect(await (await app.call('GET', '/metrics')).text()).toContain('svc_backup_failures_total 1\n')
  rmSync(folder)
})

test('backups without a folder: what was made by hand is not denied', async () => {
  app = await testApp({}, {}, { isOnDisk: true })
  await app.addUser(ROOT, 'admin')
  const made = 'Backups are made only by hand: BACKUP_DIR is not set. '
  expect(await checkOf('backup')).toMatchObject({
    status: 'off',
    message: `${made}There is none yet`,
    value: null,
  })
  const answer = await app.call('POST', '/api/backups/download', { as: ROOT, json: { password: PASSWORD } })
  await answer.arrayBuffer()
  const at = '2026-11-20T12:00:00.000Z'
  const message = `${made}The last one was downloaded`
  expect(await checkOf('backup')).toMatchObject({ status: 'off', message, at, value: at })
})

test('mail: what waits, a refused one, and one that was given up', async () => {
  let isAway = false
  const smtp = await mailServer({ ofMail: () => (isAway ? 'no' : undefined) })
  await setUp({ SMTP_URL: smtp.url, WEBHOOK_RETRY_SECONDS: '0,0,0,60' })
  const invite = (email: string) => ask(app, 'POST', '/api/users', { as: ROOT, json: { email } })
  await invite('ann@example.com')
  expect(await checkOf('mail')).toMatchObject({ status: 'ok', value: 1, at: null })
  await sendDueMails(app.ctx)
  expect(await checkOf('mail')).toMatchObject({ status: 'ok', value: 0, at: '2026-11-20T12:00:00.000Z' })
  isAway = true
  await invite('bob@example.com')
  await sendDueMails(app.ctx)
  expect(await checkOf('mail')).toMatchObject({ status: 'warn', value: 1 })
  app.advance(70_000)
  await sendDueMails(app.ctx)
  expect(await checkOf('mail')).toMatchObject({ status: 'error', value: 0 })
  await smtp.close()
})

test('previews and retention: how many, and what is late', async () => {
  await setUp()
  const { projectId } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'pr-1',
    files: {},
  })
  const put = { keepLast: 5, keepDays: null }
  expect(
    (await ask(app, 'PUT', `/api/projects/${projectId}/retention`, { as: ROOT, json: put })).status,
  ).toBe(200)
  app.ctx.db.sqlite.run('UPDATE aliases SET expires_at = ?', [app.ctx.now() + DAY_MS])
  expect(await checkOf('retention')).toMatchObject({ status: 'ok', value: 1 })
  expect(await checkOf('previews')).toMatchObject({ status: 'ok', value: 1 })
  app.advance(2 * DAY_MS)
  expect(await checkOf('retention')).toMatchObject({ status: 'warn', value: 1 })
  expect(await checkOf('previews')).toMatchObject({ status: 'off', value: 0 })
})

test('a part that cannot be looked at does not hide the others', async () => {
  await setUp()
  app.ctx.db.sqlite.run('DROP TABLE mails')
  const { status, checks } = await details()
  expect(status).toBe('error')
  expect(checks).toHaveLength(9)
  expect(checks.find(({ name }) => name === 'mail')).toMatchObject({ status: 'error' })
})

test('stand-bys of an object store: none, one that follows, one that is behind, and one that is silent', async () => {
  const stored = await storeApp({ MACHINE_NAME: 'one' })
  app = stored
  await app.addUser(ROOT, 'admin')
  const standby = {
    name: 'two',
    role: 'standby' as const,
    url: null,
    version: app.ctx.version,
    epoch: 3,
    number: 7,
  }
  const report = (lagMs: number) =>
    noteReport(app.ctx, { ...standby, lagMs, cacheBytes: 0, cacheHits: 0, cacheMisses: 0 }, `batch ${lagMs}`)
  expect(await checkOf('store')).toMatchObject({ status: 'ok' })
  expect(await checkOf('standby')).toMatchObject({ status: 'warn', value: 0 })
  report(5_000)
  expect(await checkOf('standby')).toMatchObject({ status: 'ok', message: 'Following: two', value: 1 })
  report(5_001)
  expect(await checkOf('standby')).toMatchObject({ status: 'warn', value: 1 })
  app.advance(30_001)
  expect(await checkOf('standby')).toMatchObject({ status: 'warn', value: 0 })
})
