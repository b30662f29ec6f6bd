import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ObjectServer, STORE_KEYS, startObjectServer } from '../testing/object-server.ts'
import { publishTar, shaOf } from '../testing/publish-tar.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'

/** The real program sends backups to a store and takes them from there. */
const data = makeDataDir()
const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
const ADMIN = { email: 'root@example.com', password: 'correct horse battery' }
const PAGE = `<h1>kept</h1>${'<p>words</p>'.repeat(5_000)}`
let store: ObjectServer
let env: Record<string, string>
let server: ServerProcess
let key: string

beforeAll(async () => {
  store = startObjectServer()
  env = {
    STORE_ENDPOINT: store.endpoint,
    STORE_ACCESS_KEY: STORE_KEYS.accessKey,
    STORE_SECRET_KEY: STORE_KEYS.secretKey,
    STORE_TIMEOUT_SECONDS: '2',
  }
  server = await startServer(data.path, {
    ...env,
    BACKUP_DIR: 's3://bucket/daily/',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
  })
  key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  expect(await publishTar(work, server, key, 'docs', shaOf(1), { 'index.html': PAGE })).toBe(true)
})
afterAll(async () => {
  server.signal('SIGTERM')
  await server.exited
  await store.stop()
  data.remove()
  rmSync(work, { recursive: true })
})

const inStore = (words: string[], own: Record<string, string> = {}) =>
  runSvc(words, { env: { ...env, ...own } })
const signIn = (at: ServerProcess, password = ADMIN.password) =>
  fetch(`${at.url}/api/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...ADMIN, password }),
  })

/** What was published and who may sign in are there. */
async function expectAlive(dataDir: string): Promise<void> {
  expect(await runSvc(['check', '--data-dir', dataDir])).toMatchObject({ code: 0, stdout: 'all is well\n' })
  const restored = await startServer(dataDir)
  try {
    const page = await fetch(`${restored.url}/`, { headers: { host: 'live--docs--acme.localhost' } })
    expect(await page.text()).toBe(PAGE)
    expect((await signIn(restored)).status).toBe(200)
    expect((await signIn(restored, 'incorrect horse')).status).toBe(401)
  } finally {
    restored.signal('SIGTERM')
    await restored.exited
  }
}

test('svc backup and svc restore go to a store and back', async () => {
  const made = await inStore(['backup', 's3://bucket/by hand/a.tar', '--data-dir', data.path])
  expect(made).toMatchObject({ code: 0, stdout: '' })
  expect(made.stderr).toStartWith('wrote s3://bucket/by hand/a.tar: ')
  const fresh = makeDataDir()
  expect(await inStore(['restore', 's3://bucket/by hand/a.tar', '--data-dir', fresh.path])).toMatchObject({
    code: 0,
  })
  await expectAlive(fresh.path)
  expect(await inStore(['restore', 's3://bucket/by hand/a.tar', '--data-dir', fresh.path])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not empty'),
  })
  fresh.remove()
})

test('the server writes to BACKUP_DIR in a store, lists it, and shows neither key', async () => {
  const headers = { 'x-api-key': key }
  const cookie = (await signIn(server)).headers.get('set-cookie')?.split(';')[0] ?? ''
  const asked = { headers: { cookie, origin: server.url } }
  const made = await fetch(`${server.url}/api/backups`, { method: 'POST', ...asked })
  expect(made.status).toBe(201)
  const backup = (await made.json()) as { name: string; sizeBytes: number }
  expect(store.objects.get(`daily/${backup.name}`)?.bytes).toHaveLength(backup.sizeBytes)
  const listed = await (await fetch(`${server.url}/api/backups`, asked)).text()
  expect(JSON.parse(listed)).toMatchObject({
    directory: 's3://bucket/daily/',
    backups: [backup],
    running: null,
    lastFailure: null,
  })
  const page = await (
    await fetch(`${server.url}/backups`, { headers: { cookie, accept: 'text/html' } })
  ).text()
  for (const text of [listed, page, server.output()]) expect(text).not.toContain(STORE_KEYS.secretKey)
  expect((await fetch(`${server.url}/api/backups`, { headers })).status).toBe(403)
})

test('without contents the restore says what is missing, and blobs/ of elsewhere completes it', async () => {
  const words = ['backup', 's3://bucket/small.tar', '--without-contents', '--data-dir', data.path]
  expect((await inStore(words)).stderr).toEndWith('without contents\n')
  const fresh = makeDataDir()
  const restored = await inStore(['restore', 's3://bucket/small.tar', '--data-dir', fresh.path])
  expect(restored.code).toBe(0)
  expect(restored.stderr).toContain(
    `put the folder blobs/ of that server into ${fresh.path} before svc serve`,
  )
  expect(existsSync(join(fresh.path, 'blobs'))).toBe(false)
  expect((await runSvc(['check', '--data-dir', fresh.path])).code).toBe(1)
  cpSync(join(data.path, 'blobs'), join(fresh.path, 'blobs'), { recursive: true })
  await expectAlive(fresh.path)
  fresh.remove()
})

test.each<[words: string[], own: Record<string, string>, code: number, message: string]>([
  [['s3://bucket/a.tar'], { STORE_ACCESS_KEY: '' }, 78, 'STORE_ACCESS_KEY is missing: s3:// needs it'],
  [['s3://bucket/a.tar'], { STORE_SECRET_KEY: '' }, 78, 'STORE_SECRET_KEY is missing: s3:// needs it'],
  [['s3://bucket/a.tar'], { STORE_ACCESS_KEY: 'nobody' }, 78, 'does not know the key in STORE_ACCESS_KEY'],
  [['s3://bucket/a.tar'], { STORE_SECRET_KEY: 'sesame' }, 78, 'STORE_SECRET_KEY is not its secret'],
  [['s3://nothing/a.tar'], {}, 78, 'has no bucket "nothing"'],
  [
    ['s3://bucket/a.tar'],
    { STORE_ENDPOINT: 'http://127.0.0.1:9', STORE_TIMEOUT_SECONDS: '1' },
    1,
    'cannot be reached',
  ],
  [['s3://bucket/folder/'], {}, 2, 's3://bucket/key.tar'],
  [['s3://bucket.tar'], {}, 2, 's3://bucket/key.tar'],
  [['s3:/bucket/a.tar'], {}, 2, 's3://bucket/key.tar'],
  [['s3://bucket/../a.tar'], {}, 2, 's3://bucket/key.tar'],
  [['s3://me:sesame@bucket/a.tar'], {}, 2, 's3://bucket/key.tar'],
  [['s3://bucket/a.tar?sesame=.tar'], {}, 2, 's3://bucket/key.tar'],
])('svc backup %p with %p ends with %d', async (words, own, code, message) => {
  const before = namesIn(data.path)
  const failed = await inStore(['backup', ...words, '--data-dir', data.path], own)
  expect([failed.code, failed.stderr]).toEqual([code, expect.stringContaining(message)])
  for (const secret of ['sesame', STORE_KEYS.secretKey]) expect(failed.stderr).not.toContain(secret)
  expect(namesIn(data.path)).toEqual(before)
  expect(store.objects.has('a.tar')).toBe(false)
})

test('an object that is no backup is left as it is', async () => {
  store.objects.set('mine.tar', { bytes: new Uint8Array(5_000).fill(1), headers: {} })
  const refused = await inStore(['backup', 's3://bucket/mine.tar', '--data-dir', data.path])
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already exists and is not a backup'),
  })
  expect(store.objects.get('mine.tar')?.bytes).toHaveLength(5_000)
  const fresh = makeDataDir()
  for (const name of ['mine.tar', 'nothing.tar']) {
    const failed = await inStore(['restore', `s3://bucket/${name}`, '--data-dir', fresh.path])
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('cannot be read as a backup')])
    expect(readdirSync(fresh.path)).toEqual([])
  }
  fresh.remove()
})

/** But for the log of requests, which the server beside it begins when it likes. */
const namesIn = (dataDir: string): string[] =>
  readdirSync(dataDir)
    .filter((name) => !name.startsWith('logs.db'))
    .sort()
