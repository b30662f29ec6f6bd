import { afterEach, beforeEach, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { cookieOf, signIn } from '../../testing/full-disk.ts'
import type { ServerProcess } from '../../testing/server-process.ts'
import { type StoreProcess, storeProcess } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'

/** contract 18 §4: the store is away, and another machine takes over. */

let at: StoreProcess
let running: ServerProcess
let cookie: string
beforeEach(async () => {
  at = await storeProcess()
  running = await at.start()
  cookie = cookieOf(await signIn(running))
})
afterEach(async () => {
  running.signal('SIGKILL')
  await running.exited
  await at.remove()
})

const ask = (method: string, path: string, json?: unknown, url = running.url) =>
  fetch(`${url}${path}`, {
    method,
    headers: { cookie, origin: url, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
const addUser = (name: string, url?: string) =>
  ask('POST', '/api/users', { email: `${name}@example.com` }, url)
const codeOf = async (answer: Response) => [answer.status, (await answer.json()).error]
async function users(): Promise<string[]> {
  const { users: found, data } = (await (await ask('GET', '/api/users')).json()) as Record<
    string,
    { email: string }[] | undefined
  >
  return (found ?? data ?? []).map(({ email }) => email)
}

test('while the store is away changes are refused at once and reads go on; what was committed ships when it is back', async () => {
  expect((await addUser('ann')).status).toBe(201)
  at.store.fault = () => ({ status: 503, code: 'InternalError' })
  // The first one waits for the store, and may still happen.
  expect(await codeOf(await addUser('bob'))).toEqual([503, 'STORE_UNREACHABLE'])
  const refused = await addUser('cid')
  expect([refused.headers.get('retry-after'), ...(await codeOf(refused))]).toEqual([
    '5',
    503,
    'STORE_UNREACHABLE',
  ])
  expect(await users()).toContain('ann@example.com')
  const health = await fetch(`${running.url}/api/health`)
  expect([health.status, await health.json()]).toMatchObject([
    200,
    { status: 'ok', role: 'primary', checks: { store: { status: 'error' } } },
  ])
  expect((await fetch(`${running.url}/api/health/primary`)).status).toBe(503)
  at.store.fault = () => undefined
  await until('changes are taken again', async () => (await addUser('dan')).status === 201)
  await at.lose(running)
  running = await at.start()
  cookie = cookieOf(await signIn(running))
  expect((await users()).sort()).toEqual(['ann', 'bob', 'dan', 'root'].map((name) => `${name}@example.com`))
}, 100_000)

test('a second machine that takes over: the first acknowledges nothing any more', async () => {
  const other = await at.start({ MACHINE_NAME: 'two' }, `${at.dataDir}-two`)
  try {
    expect(await codeOf(await addUser('late'))).toEqual([503, 'NOT_PRIMARY'])
    for (let n = 0; n < 5; n++) expect(await codeOf(await addUser(`later${n}`))).toEqual([503, 'NOT_PRIMARY'])
    expect((await fetch(`${running.url}/api/health/primary`)).status).toBe(503)
    const primary = await fetch(`${other.url}/api/health/primary`)
    expect([primary.status, await primary.json()]).toEqual([200, { role: 'primary', epoch: 2 }])
    expect((await at.svc(['key', 'create', 'late'])).code).toBe(1)
    expect((await addUser('ann', other.url)).status).toBe(201)
    const audit = await (await ask('GET', '/api/audit?action=machine.primary', undefined, other.url)).text()
    expect(audit).toContain('"machine":"two"')
  } finally {
    other.signal('SIGTERM')
    expect(await other.exited).toBe(0)
    running.signal('SIGKILL')
    await running.exited
  }
  // The tail of the first is thrown away.
  running = await at.start()
  cookie = cookieOf(await signIn(running))
  expect((await users()).sort()).toEqual(['ann@example.com', 'root@example.com'])
}, 100_000)

test('a machine that writes nothing finds out, too, and shows only what everybody may see', async () => {
  const other = await at.start({ MACHINE_NAME: 'two' }, `${at.dataDir}-two`)
  try {
    await until('it is no primary', async () => (await ask('GET', '/api/users')).status === 503)
    const health = await fetch(`${running.url}/api/health`)
    expect([health.status, await health.json()]).toMatchObject([200, { role: 'standby' }])
    const { stdout } = await at.svc(['store', 'status', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ primary: { name: 'two', epoch: 2 } })
    await until('the log', () => running.output().includes('another machine is the primary now'))
  } finally {
    other.signal('SIGKILL')
    await other.exited
  }
}, 100_000)

/** What is committed here and not in the store. */
async function writeInVain(): Promise<void> {
  const isOfLog = (method: string, key: string) => method === 'PUT' && key.includes('/db/0000/')
  at.store.fault = ({ method, key }) => (isOfLog(method, key) ? { status: 503, code: 'SlowDown' } : undefined)
  expect((await addUser('vain')).status).toBe(503)
}

async function expectWithoutIt(): Promise<void> {
  at.store.fault = () => undefined
  running = await at.start()
  cookie = cookieOf(await signIn(running))
  expect((await addUser('ann')).status).toBe(201)
  expect(await users()).not.toContain('vain@example.com')
  expect(await at.svc(['store', 'check'])).toMatchObject({ code: 0 })
  await at.lose(running)
  running = await at.start()
  cookie = cookieOf(await signIn(running))
  expect((await users()).sort()).toEqual(['ann@example.com', 'root@example.com'])
}

test('a command that reads a copy without its server brings nothing into it', async () => {
  await writeInVain()
  running.signal('SIGKILL')
  await running.exited
  for (const args of [['check'], ['backup', `${at.dataDir}.tar`]]) await at.svc(args)
  await expectWithoutIt()
}, 100_000)

test('a stop while the store is away keeps nothing that the store does not have', async () => {
  await writeInVain()
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  await expectWithoutIt()
}, 100_000)

test('a stop ships everything, and a start without the data directory has it', async () => {
  expect((await addUser('ann')).status).toBe(201)
  running.signal('SIGTERM')
  expect(await running.exited).toBe(0)
  rmSync(at.dataDir, { recursive: true })
  running = await at.start()
  cookie = cookieOf(await signIn(running))
  expect(await users()).toContain('ann@example.com')
}, 100_000)

test('a log that ends below what this data directory has seen is refused, naming both numbers', async () => {
  const before = new Map(at.store.objects)
  for (const name of ['ann', 'bob']) expect((await addUser(name)).status).toBe(201)
  running.signal('SIGTERM')
  await running.exited
  at.store.objects.clear()
  for (const [key, object] of before) at.store.objects.set(key, object)
  const { code, stderr } = await at.svc(['serve'])
  expect([code, stderr]).toEqual([
    78,
    expect.stringMatching(/ends at \d+, but this data directory has seen \d+/),
  ])
}, 100_000)
