import { afterEach, beforeEach, expect, test } from 'bun:test'
import { makeDatabaseBefore, storeUser } from '../../testing/data-dir-of-before.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../../testing/server-process.ts'

/** Settings, commands and a directory of the version before, with the real program. contract 12.7. */

const STORED = 'ren\u00e9@xn--bcher-kva.example'
const SPELLED = 'Rene\u0301@bu\u0308cher.example'
const NFC = 'r\u00e9sum\u00e9s of ann'
const NFD = NFC.normalize('NFD')

let data: ReturnType<typeof makeDataDir>
let server: ServerProcess | undefined
beforeEach(() => {
  data = makeDataDir()
})
afterEach(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  server = undefined
  data.remove()
})

async function signIn(email: string, password: string): Promise<{ status: number; email: unknown }> {
  const answer = await fetch(`${server?.url}/api/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  const body = (await answer.json()) as { user?: { email: string } }
  return { status: answer.status, email: body.user?.email }
}

const svc = (args: string[], stdin?: string) =>
  runSvc([...args, '--data-dir', data.path], stdin === undefined ? {} : { stdin })

test('ADMIN_EMAIL and ADMIN_PASSWORD', async () => {
  server = await startServer(data.path, { ADMIN_EMAIL: SPELLED, ADMIN_PASSWORD: NFD })
  for (const password of [NFC, NFD])
    expect(await signIn(SPELLED.toUpperCase(), password)).toEqual({ status: 200, email: STORED })
}, 60_000)

test.each([
  ['ADMIN_EMAIL', 'ann@a..b', NFC, 'an email address'],
  ['ADMIN_PASSWORD', STORED, '\u00e9'.repeat(7).normalize('NFD'), 'at least 8 characters'],
  ['ADMIN_PASSWORD', STORED, 'a'.repeat(257), 'at most 256 characters'],
])('%s stops the start: %s %s', async (name, ADMIN_EMAIL, ADMIN_PASSWORD, says) => {
  const env = { ADMIN_EMAIL, ADMIN_PASSWORD, DATA_DIR: data.path, PORT: '0', HOST: '127.0.0.1' }
  const { code, stderr } = await runSvc(['serve'], { env })
  expect([code, stderr]).toEqual([78, expect.stringContaining(says)])
  expect(stderr).toContain(name)
})

test('svc admin create, reset-password and reset-mfa, with the password on stdin', async () => {
  expect(await svc(['admin', 'create', SPELLED], `${NFD}\n`)).toMatchObject({ code: 0 })
  expect(await svc(['admin', 'create', STORED], `${NFC}\n`)).toMatchObject({ code: 1 })
  server = await startServer(data.path)
  expect(await signIn(STORED, NFC)).toEqual({ status: 200, email: STORED })
  const another = '\u00e9t\u00e9s of ann'
  expect(await svc(['admin', 'reset-password', SPELLED], `${another.normalize('NFD')}\n`)).toMatchObject({
    code: 0,
  })
  expect(await signIn(STORED, another)).toEqual({ status: 200, email: STORED })
  expect(await svc(['admin', 'reset-mfa', SPELLED])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${STORED} has no second step`),
  })
  for (const [password, says] of [
    ['\u00e9'.repeat(7).normalize('NFD'), 'at least 8 characters'],
    ['a'.repeat(257), 'at most 256 characters'],
  ] as const)
    expect(await svc(['admin', 'reset-password', STORED], `${password}\n`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(says),
    })
  expect(await svc(['admin', 'create', 'ann@a..b'], `${NFC}\n`)).toMatchObject({ code: 2 })
}, 60_000)

test('a directory of the version before with NFD passwords and twin emails starts, serves and checks', async () => {
  const [older, younger, alone] = ['rene\u0301@b\u00fccher.example', STORED, 'zoe\u0308@example.com'] as const
  const ids: string[] = []
  makeDatabaseBefore(data.path, '0016_email_keys', (sqlite) => {
    storeUser(sqlite, { email: 'root@example.com', password: NFD, role: 'admin' })
    ids.push(storeUser(sqlite, { email: older, password: NFD }))
    ids.push(storeUser(sqlite, { email: younger, password: `${NFC} too` }))
    storeUser(sqlite, { email: alone, password: NFD })
    // As a version before took it: 8 characters are 4 in NFC.
    storeUser(sqlite, { email: 'short@example.com', password: '\u00e9'.repeat(4).normalize('NFD') })
  })
  server = await startServer(data.path)
  expect(await signIn('root@example.com', NFC)).toMatchObject({ status: 200 })
  expect(await signIn(older, NFC)).toEqual({ status: 200, email: older })
  expect(await signIn('ren\u00e9@b\u00fccher.example', NFD)).toEqual({ status: 200, email: older })
  expect(await signIn(younger, `${NFD} too`)).toEqual({ status: 200, email: younger })
  expect(await signIn(younger, NFC)).toMatchObject({ status: 401 })
  expect(await signIn('ZO\u00cb@example.com', NFC)).toEqual({ status: 200, email: alone })
  expect(await signIn('short@example.com', '\u00e9'.repeat(4))).toMatchObject({ status: 200 })
  const checked = await svc(['check'])
  expect(checked).toMatchObject({ code: 0, stderr: '' })
  expect(checked.stdout).toBe(
    `one email, 2 accounts: ${older} (${ids[0]}), ${younger} (${ids[1]})\nall is well\n`,
  )
}, 60_000)
