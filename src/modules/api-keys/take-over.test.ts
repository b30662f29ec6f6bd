import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { DOCS, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { createOperatorKey } from './service.ts'

/** contract 12.8: what becomes of keys when their maker is demoted or goes. */

const ROOT = 'root@example.com'
const EVE = 'eve@example.com'
const NOON = '2026-11-20T12:00:00.000Z'

let app: TestApp
let eve: string
let root: string

beforeEach(async () => {
  app?.close()
  app = await testApp()
  root = await app.addUser(ROOT, 'admin')
  eve = await app.addUser(EVE, 'admin')
})
afterAll(() => app.close())

type Key = { id: string; key: string }

async function addKey(as = EVE, json: object = { name: 'ci', isGlobal: true }): Promise<Key> {
  const { body } = await ask(app, 'POST', '/api/api-keys', { as, json })
  return { id: (body['apiKey'] as { id: string }).id, key: String(body['key']) }
}

const recordOf = async ({ id }: Key): Promise<Record<string, unknown> | undefined> => {
  const { body } = await ask(app, 'GET', '/api/api-keys?limit=100', { as: ROOT })
  return (body['data'] as Record<string, unknown>[]).find((one) => one['id'] === id)
}

const useOf = async ({ key }: Key) => {
  const { status, body } = await ask(app, 'GET', '/api/projects', { key })
  return status === 200 ? 200 : body['error']
}

const setRole = (role: string, json: object = {}) =>
  ask(app, 'PATCH', `/api/users/${eve}`, { as: ROOT, json: { role, ...json } })
const remove = (query = '') => ask(app, 'DELETE', `/api/users/${eve}${query}`, { as: ROOT })
const takeOver = ({ id }: Key, as = ROOT) => ask(app, 'POST', `/api/api-keys/${id}/take-over`, { as })

const auditOf = (action: string) =>
  app.ctx.db.sqlite
    .query<{ target: string; actor: string }, [string]>(
      'SELECT target_id AS target, actor_id AS actor FROM audit_log WHERE action = ? ORDER BY rowid',
    )
    .all(action)

describe('a demoted maker', () => {
  test.each(['user', 'member'])(
    'to %s: their keys are suspended, and good again with the role',
    async (role) => {
      const key = await addKey()
      expect(await recordOf(key)).toMatchObject({ suspendedAt: null, suspendedReason: null })
      expect((await setRole(role)).status).toBe(200)
      expect(await useOf(key)).toBe('API_KEY_SUSPENDED')
      expect(await recordOf(key)).toMatchObject({
        createdBy: eve,
        suspendedAt: NOON,
        suspendedReason: 'maker_demoted',
      })
      expect(auditOf('api-key.suspend')).toEqual([{ target: key.id, actor: root }])
      await setRole(role === 'user' ? 'member' : 'user')
      expect(auditOf('api-key.suspend')).toHaveLength(1)
      await setRole('admin')
      expect(await useOf(key)).toBe(200)
      expect(await recordOf(key)).toMatchObject({ suspendedAt: null, suspendedReason: null })
    },
  )

  test('the answer names the prefix and what to do, on every route, and says so before anything else', async () => {
    const key = await addKey()
    await setRole('user', { keys: 'suspend' })
    for (const [method, path] of [
      ['GET', '/api/projects'],
      ['POST', '/api/deployments'],
      ['PUT', `/api/proxy-rule-sets/project/${root}/sync`],
      ['GET', `/api/projects/${root}`],
    ] as const) {
      const { status, body } = await ask(app, method, path, { key: key.key })
      expect({ path, status, error: body['error'] }).toEqual({
        path,
        status: 401,
        error: 'API_KEY_SUSPENDED',
      })
      expect(body['message']).toContain(key.key.slice(0, 12))
      expect(body['message']).toContain('take it over')
      expect(body['message']).not.toContain(key.key)
    }
  })

  test('with take-over their keys are the caller’s and never stop', async () => {
    const key = await addKey()
    expect((await setRole('user', { keys: 'take-over' })).status).toBe(200)
    expect(await useOf(key)).toBe(200)
    expect(await recordOf(key)).toMatchObject({ createdBy: root, suspendedAt: null })
    expect(auditOf('api-key.take-over')).toEqual([{ target: key.id, actor: root }])
    expect(auditOf('api-key.suspend')).toEqual([])
    await setRole('admin')
    expect(await recordOf(key)).toMatchObject({ createdBy: root })
  })

  test('a change of the email alone touches no key', async () => {
    const key = await addKey()
    await ask(app, 'PATCH', `/api/users/${eve}`, {
      as: ROOT,
      json: { email: 'e@example.com', keys: 'take-over' },
    })
    expect(await recordOf(key)).toMatchObject({ createdBy: eve, suspendedAt: null })
  })
})

describe('a deleted maker', () => {
  test('their keys are suspended for good, and keep whose they were', async () => {
    const key = await addKey()
    expect((await remove()).status).toBe(204)
    expect(await useOf(key)).toBe('API_KEY_SUSPENDED')
    expect(await recordOf(key)).toMatchObject({ createdBy: eve, suspendedReason: 'maker_deleted' })
    eve = await app.addUser(EVE, 'admin')
    expect(await useOf(key)).toBe('API_KEY_SUSPENDED')
  })

  test('one who was demoted before leaves keys that no promotion lifts', async () => {
    const key = await addKey()
    await setRole('user')
    app.advance(1000)
    await remove('?keys=suspend')
    expect(await recordOf(key)).toMatchObject({ suspendedAt: NOON, suspendedReason: 'maker_deleted' })
  })

  test('with take-over their keys are the caller’s, those that were suspended too', async () => {
    const keys = [await addKey(), await addKey()]
    await setRole('user')
    expect((await remove('?keys=take-over')).status).toBe(204)
    for (const key of keys) {
      expect(await useOf(key)).toBe(200)
      expect(await recordOf(key)).toMatchObject({ createdBy: root, suspendedReason: null })
    }
  })

  test('who cannot be deleted keeps their keys', async () => {
    const key = await addKey()
    await ask(app, 'POST', '/api/projects', { as: EVE, json: { owner: 'acme', name: 'hers' } })
    expect((await remove('?keys=take-over')).status).toBe(409)
    expect(await recordOf(key)).toMatchObject({ createdBy: eve, suspendedAt: null })
    const last = await addKey(ROOT)
    await setRole('user')
    expect((await ask(app, 'DELETE', `/api/users/${root}`, { as: ROOT })).status).toBe(400)
    expect(await recordOf(last)).toMatchObject({ createdBy: root, suspendedAt: null })
  })
})

describe('taking over', () => {
  test('a suspended key is good again and the caller’s, with nothing else changed', async () => {
    const key = await addKey()
    const before = await recordOf(key)
    await remove()
    expect(await takeOver(key)).toEqual({ status: 200, body: { ...before, createdBy: root } })
    expect(await useOf(key)).toBe(200)
    expect(auditOf('api-key.take-over')).toEqual([{ target: key.id, actor: root }])
  })

  test('two admins at once: one gets it', async () => {
    const key = await addKey()
    const third = await app.addUser('third@example.com', 'admin')
    await setRole('user')
    const answers = await Promise.all([takeOver(key), takeOver(key, 'third@example.com')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const winner = answers[0]?.status === 200 ? root : third
    expect(await recordOf(key)).toMatchObject({ createdBy: winner, suspendedAt: null })
    expect(auditOf('api-key.take-over')).toEqual([{ target: key.id, actor: winner }])
  })

  test('409 for one that is not suspended, 404 for none, 403 for others', async () => {
    const key = await addKey()
    expect((await takeOver(key)).status).toBe(409)
    expect((await takeOver({ id: root, key: '' })).status).toBe(404)
    await setRole('user')
    expect((await takeOver(key, EVE)).status).toBe(403)
    expect((await ask(app, 'POST', `/api/api-keys/${key.id}/take-over`, { key: key.key })).status).toBe(401)
    expect(await recordOf(key)).toMatchObject({ suspendedReason: 'maker_demoted' })
  })

  test('an expired key is told to be expired: taking it over would not help', async () => {
    const key = await addKey(EVE, { name: 'x', isGlobal: true, expiresAt: '2026-11-20T13:00:00.000Z' })
    await setRole('user')
    app.advance(3_600_000)
    expect(await useOf(key)).toBe('Unauthorized')
  })
})

test.each(['', 'keep', 'TAKE-OVER', 'suspend,take-over'])(
  'keys=%j is 400 and changes nothing',
  async (keys) => {
    const key = await addKey()
    expect((await setRole('user', { keys })).status).toBe(400)
    expect((await remove(`?keys=${keys}`)).status).toBe(400)
    expect(await recordOf(key)).toMatchObject({ suspendedAt: null })
    expect((await ask(app, 'GET', `/api/users/${eve}`, { as: ROOT })).body['role']).toBe('admin')
  },
)

test('who gives up the role cannot keep the keys by taking them over', async () => {
  const key = await addKey(ROOT)
  const self = `/api/users/${root}`
  const demoted = await ask(app, 'PATCH', self, { as: ROOT, json: { role: 'user', keys: 'take-over' } })
  expect(demoted).toMatchObject({ status: 400, body: { details: [{ path: 'keys' }] } })
  expect((await ask(app, 'DELETE', `${self}?keys=take-over`, { as: ROOT })).status).toBe(400)
  expect((await ask(app, 'PATCH', self, { as: ROOT, json: { role: 'user' } })).status).toBe(200)
  const { body } = await ask(app, 'GET', '/api/api-keys', { as: EVE })
  expect(body['data']).toMatchObject([{ id: key.id, suspendedReason: 'maker_demoted' }])
})

test('keys of the command line are nobody’s and never suspended', async () => {
  const key = createOperatorKey(app.ctx, { name: 'cli', repository: null })
  await remove()
  expect((await ask(app, 'GET', '/api/projects', { key })).status).toBe(200)
})

test('content takes a suspended key for none, and the API of a site says that it is suspended', async () => {
  await seedDeployment(app, { ...DOCS, alias: 'production', isPublic: false })
  const host = 'production--docs--acme.localhost'
  const key = await addKey()
  expect((await app.call('GET', '/', { host, key: key.key })).status).toBe(200)
  await setRole('user')
  expect((await app.call('GET', '/', { host, key: key.key })).status).toBe(404)
  expect(await ask(app, 'GET', '/api/projects', { host, key: key.key })).toMatchObject({
    status: 401,
    body: { error: 'API_KEY_SUSPENDED' },
  })
})
