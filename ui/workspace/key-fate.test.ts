import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { ask } from '../../src/testing/ask.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

/** contract 12.8: the pages ask what becomes of keys, and administrators are told of those that are suspended. */

const EVE = 'eve@example.com'
let app: TestApp
let browser: Browser
let eve: string
let root: string
let keyId: string

beforeEach(async () => {
  app?.close()
  app = await testApp()
  browser = browserOf(app)
  root = await app.addUser(ADMIN, 'admin')
  eve = await app.addUser(EVE, 'admin')
  const made = await ask(app, 'POST', '/api/api-keys', {
    as: EVE,
    json: { name: 'nightly <ci>', isGlobal: true },
  })
  keyId = (made.body['apiKey'] as { id: string }).id
  await ask(app, 'GET', '/api/projects', { key: String(made.body['key']) })
})
afterAll(() => app.close())

const read = async (path: string, as = ADMIN) => (await browser.open(path, { as })).text()
const send = (path: string, fields: Record<string, string>, as = ADMIN) =>
  browser.submit(path, fields, { as })
const keyNow = async () =>
  ((await ask(app, 'GET', '/api/api-keys', { as: ADMIN })).body['data'] as Record<string, unknown>[])[0]

test('a person’s page asks what becomes of their keys, naming each with its last use', async () => {
  const html = await read(`/admin/users/${eve}`)
  expect(html.match(/nightly &lt;ci>/g)).toHaveLength(3)
  expect(html).toContain('last used <time datetime="2026-11-20T12:00:00.000Z"')
  expect(html).toMatch(/<select id="role-keys" name="keys"/)
  expect(html).toMatch(/<select id="delete-keys" name="keys"/)
  expect(html.match(/value="take-over"/g)).toHaveLength(2)
  expect(await read(`/admin/users/${root}`)).not.toContain('name="keys"')
  const own = await read(`/admin/users/${eve}`, EVE)
  expect(own).toContain('name="keys"')
  expect(own).not.toContain('value="take-over"')
})

const WAYS: [what: string, fields: Record<string, string>, kept: object][] = [
  ['demoted', { intent: 'change', role: 'user', keys: 'suspend' }, { suspendedReason: 'maker_demoted' }],
  ['demoted, keys not said', { intent: 'change', role: 'user' }, { suspendedReason: 'maker_demoted' }],
  ['demoted, taken over', { intent: 'change', role: 'user', keys: 'take-over' }, { suspendedReason: null }],
  ['still admin', { intent: 'change', role: 'admin', keys: 'take-over' }, { suspendedReason: null }],
  ['deleted', { intent: 'delete', confirm: EVE, keys: 'suspend' }, { suspendedReason: 'maker_deleted' }],
  ['deleted, taken over', { intent: 'delete', confirm: EVE, keys: 'take-over' }, { suspendedReason: null }],
]
test.each(WAYS)('%s', async (what, fields, kept) => {
  expect((await send(`/admin/users/${eve}`, fields)).status).toBe(303)
  const owner = what.endsWith('taken over') ? root : eve
  expect(await keyNow()).toMatchObject({ ...kept, createdBy: owner })
})

test.each(['change', 'delete'])('%s with another word changes nothing', async (intent) => {
  expect(
    (await send(`/admin/users/${eve}`, { intent, role: 'user', confirm: EVE, keys: 'burn' })).status,
  ).toBe(400)
  expect(await keyNow()).toMatchObject({ suspendedAt: null, createdBy: eve })
})

describe('a suspended key', () => {
  const NOTICE = /An API key is suspended.*nightly &lt;ci>.*last used <time/s
  beforeEach(async () => {
    await send(`/admin/users/${eve}`, { intent: 'change', role: 'user' })
  })

  test('is told to every global admin, at home and at the keys, and to nobody else', async () => {
    await app.addUser('other@example.com', 'admin')
    for (const as of [ADMIN, 'other@example.com'])
      for (const path of ['/', '/keys']) expect(await read(path, as)).toMatch(NOTICE)
    expect(await read('/', EVE)).not.toContain('suspended')
    expect(await read('/keys')).toContain('no longer an administrator')
  })

  test('is taken over there, once', async () => {
    const fields = { intent: 'take-over-key', keyId }
    expect(redirectOf(await send('/keys', fields))).toEqual([303, '/keys?done=taken-over'])
    expect(await keyNow()).toMatchObject({ suspendedAt: null, createdBy: root })
    const html = await read('/keys?done=taken-over')
    expect(html).toContain('The key works again and is yours.')
    expect(html).not.toContain('take-over-key')
    for (const path of ['/', '/keys']) expect(await read(path)).not.toMatch(NOTICE)
    app.advance(60_000)
    const again = await send('/keys', fields)
    expect([again.status, (await again.text()).includes('is not suspended')]).toEqual([409, true])
    expect((await send('/keys', fields, EVE)).status).toBe(403)
  })
})
