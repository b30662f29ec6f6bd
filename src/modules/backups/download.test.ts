import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE_MS } from '../../domain/durations.ts'
import { fileSource, restoreBackup } from '../../platform/restore.ts'
import { totpCodeAt } from '../../platform/totp.ts'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { seedKey } from '../../testing/seed-people.ts'
import { type CallOptions, PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'
import { removeDownloads } from './leftovers.ts'
import { stateOf } from './state.ts'

/** A backup holds every secret, so that it is given only to somebody who signs in again. contract 17.8. */

const ROOT = 'root@example.com'
const ANN = 'ann@example.com'
const PATH = '/api/backups/download'

let app: TestApp
beforeEach(async () => {
  app = await testApp({}, {}, { isOnDisk: true })
  await app.addUser(ROOT, 'admin')
  await app.addUser(ANN, 'admin')
})
afterEach(() => app.close())

const download = (json: unknown = { password: PASSWORD }, as = ROOT, path = PATH) =>
  app.call('POST', path, { as, json })
const refused = async (answer: Response) => {
  const { statusCode, error } = (await answer.json()) as Record<string, unknown>
  return [statusCode, error]
}
const dataDir = () => app.ctx.config.dataDir
const inTmp = () => readdirSync(join(dataDir(), 'tmp')).filter((name) => name.startsWith('download-'))
const openDownloads = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes(`${dataDir()}/tmp/download-`)
    } catch {
      return false
    }
  })
const audited = () =>
  app.ctx.db.sqlite
    .query<{ actor_name: string }, []>("SELECT actor_name FROM audit_log WHERE action = 'backup.download'")
    .all()
const setSql = (sql: string) => {
  app.ctx.db.sqlite.run(sql)
  app.ctx.db.writes += 1
}

test('made, fetched and restored; who and when is known, and nothing is left of it', async () => {
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    files: { 'index.html': 'home' },
  })
  const list = async () => (await ask(app, 'GET', '/api/backups', { as: ROOT })).body
  expect(await list()).toMatchObject({ directory: null, last: null, lastDrill: null })
  expect(await (await app.call('GET', '/metrics')).text()).not.toContain('svc_backup_last_timestamp')

  const answer = await download()
  expect([
    answer.status,
    answer.headers.get('content-type'),
    answer.headers.get('content-disposition'),
  ]).toEqual([200, 'application/octet-stream', 'attachment; filename="svc-20261120T120000Z.backup"'])
  expect(audited()).toEqual([{ actor_name: ROOT }])
  const file = join(dataDir(), 'fetched.backup')
  expect(await Bun.write(file, await answer.bytes())).toBe(Number(answer.headers.get('content-length')))
  expect([inTmp(), openDownloads()]).toEqual([[], []])
  const restored = join(dataDir(), 'restored')
  expect(await restoreBackup(fileSource(file), restored, 'x')).toMatchObject({ hasContents: true })
  expect(existsSync(join(restored, 'svc.db'))).toBe(true)
  expect(existsSync(join(restored, 'last-backup.json'))).toBe(false)

  const last = { at: '2026-11-20T12:00:00.000Z', how: 'download', by: ROOT }
  expect(await list()).toMatchObject({ last, lastDrill: null })
  expect(await (await app.call('GET', '/metrics')).text()).toContain(
    'svc_backup_last_timestamp_seconds 1795176000',
  )
})

test.each<[string, CallOptions]>([
  ['a wrong password', { json: { password: 'wrong' } }],
  ['none', { json: {} }],
  ['no body', {}],
])('%s is 401 WRONG_CREDENTIALS_ERROR', async (_, content) => {
  expect(await refused(await app.call('POST', PATH, { as: ROOT, ...content }))).toEqual([
    401,
    'WRONG_CREDENTIALS_ERROR',
  ])
  expect([audited(), inTmp()]).toEqual([[], []])
})

test('wrong passwords count as sign-ins', async () => {
  await app.cookieOf(ROOT)
  for (let i = 0; i < 10; i++) await download({ password: 'wrong' })
  expect((await download()).status).toBe(429)
  const json = { email: ROOT, password: PASSWORD }
  expect((await app.call('POST', '/api/auth/signin', { json })).status).toBe(429)
})

test('with a second step the code is needed, once', async () => {
  const { body } = await ask(app, 'POST', '/api/account/mfa/totp', { as: ROOT })
  const code = () => totpCodeAt(String(body['secret']), app.ctx.now())
  await ask(app, 'POST', '/api/account/mfa/totp/confirm', { as: ROOT, json: { code: await code() } })
  app.advance(MINUTE_MS)
  const once = await code()
  expect(await refused(await download())).toEqual([401, 'MFA_REQUIRED'])
  expect(await refused(await download({ password: PASSWORD, code: 'no' }))).toEqual([401, 'MFA_CODE_INVALID'])
  const answer = await download({ password: PASSWORD, code: once })
  expect(answer.status).toBe(200)
  await answer.bytes()
  expect(await refused(await download({ password: PASSWORD, code: once }))).toEqual([401, 'MFA_CODE_INVALID'])
})

test('an account without a password needs a session of the last 10 minutes', async () => {
  await app.cookieOf(ROOT)
  setSql(`UPDATE users SET password_hash = NULL WHERE email = '${ROOT}'`)
  app.advance(10 * MINUTE_MS + 1)
  expect(await refused(await download({}))).toEqual([403, 'REAUTHENTICATE'])
  app.advance(-2)
  expect((await download({})).status).toBe(200)
})

test('no key, nobody else, not on a site', async () => {
  const key = seedKey(app, null)
  await app.addUser('user@example.com')
  const { aliasHost } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'home' },
  })
  const json = { password: PASSWORD }
  const by = async (options: object) => refused(await app.call('POST', PATH, { json, ...options }))
  expect(await by({ key })).toEqual([403, 'Forbidden'])
  expect(await by({ as: 'user@example.com' })).toEqual([403, 'Forbidden'])
  expect(await by({})).toEqual([401, 'Unauthorized'])
  const cookie = await app.cookieOf(ROOT, aliasHost ?? '')
  expect(await by({ host: aliasHost, headers: { cookie } })).toEqual([403, 'ADMIN_HOST_ONLY'])
})

test('another in progress is 409 BACKUP_RUNNING; one that is cut leaves nothing, and the next is made', async () => {
  const [one, two] = await Promise.all([download(), download(undefined, ANN)])
  const [good, bad] = one.status === 200 ? [one, two] : [two, one]
  expect([good.status, await refused(bad)]).toEqual([200, [409, 'BACKUP_RUNNING']])
  await good.body?.cancel()
  await until('the file is closed', () => openDownloads().length === 0)
  expect(inTmp()).toEqual([])
  expect((await download()).status).toBe(200)
})

test('without room it is 507', async () => {
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    files: { 'index.html': 'home' },
  })
  setSql(`UPDATE blobs SET size_bytes = ${2 ** 50}`)
  expect((await refused(await download()))[0]).toBe(507)
  expect(audited()).toEqual([])
})

test('whoever loses the right while it is made gets nothing', async () => {
  await app.cookieOf(ANN)
  const answer = download(undefined, ANN)
  await until('it is being made', () => stateOf(app.ctx).download !== null)
  const { data } = (await ask(app, 'GET', `/api/users?email=${ANN}`, { as: ROOT })).body as {
    data: { id: string }[]
  }
  expect((await ask(app, 'POST', `/api/users/${data[0]?.id}/suspend`, { as: ROOT, json: {} })).status).toBe(
    200,
  )
  expect((await answer).status).toBe(401)
  await until('it is closed', () => openDownloads().length === 0)
  expect([audited(), inTmp()]).toEqual([[], []])
})

test('one of those in BACKUP_DIR', async () => {
  const folder = join(dataDir(), 'backups')
  const with_ = await testApp({ BACKUP_DIR: folder }, {}, { isOnDisk: true })
  try {
    await with_.addUser(ROOT, 'admin')
    const made = await ask(with_, 'POST', '/api/backups', { as: ROOT })
    const name = String(made.body['name'])
    const fetch = (one: string) =>
      with_.call('POST', `/api/backups/${one}/download`, { as: ROOT, json: { password: PASSWORD } })
    const answer = await fetch(name)
    expect(answer.headers.get('content-disposition')).toBe(
      'attachment; filename="svc-20261120T120000Z.backup"',
    )
    expect(await answer.bytes()).toEqual(await Bun.file(join(folder, name)).bytes())
    for (const other of ['svc-2026-11-20T12-00-01Z.tar', '..%2fsecret.key', 'secret.key'])
      expect((await fetch(other)).status).toBe(404)
    expect((await ask(with_, 'GET', '/api/backups', { as: ROOT })).body['last']).toMatchObject({
      how: 'page',
      by: ROOT,
    })
  } finally {
    with_.close()
  }
})

test('what a killed server left goes at the next start', async () => {
  for (const name of ['download-1.backup', 'download-1.backup.2.partial', 'backup-3.db'])
    writeFileSync(join(dataDir(), 'tmp', name), 'x')
  await removeDownloads(dataDir())
  expect(readdirSync(join(dataDir(), 'tmp'))).toContain('backup-3.db')
  expect(inTmp()).toEqual([])
})
