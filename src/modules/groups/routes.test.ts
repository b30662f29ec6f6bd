import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask, NO_ID } from '../../testing/ask.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

let app: TestApp
let ann: string

beforeAll(async () => {
  app = await testApp()
  await app.addUser('root@example.com', 'admin')
  ann = await app.addUser('ann@example.com')
})
afterAll(() => app.close())

const call = (method: string, path: string, json?: unknown, as = 'root@example.com') =>
  ask(app, method, path, { as, json })

async function newGroup(name: string): Promise<string> {
  return String((await call('POST', '/api/groups', { name })).body['id'])
}

const everyRoute: [method: string, path: string][] = [
  ['GET', '/api/groups'],
  ['POST', '/api/groups'],
  ['GET', `/api/groups/${NO_ID}`],
  ['PATCH', `/api/groups/${NO_ID}`],
  ['DELETE', `/api/groups/${NO_ID}`],
  ['GET', `/api/groups/${NO_ID}/members`],
  ['POST', `/api/groups/${NO_ID}/members`],
  ['DELETE', `/api/groups/${NO_ID}/members/${NO_ID}`],
]

test.each(everyRoute)('%s %s is for global admins', async (method, path) => {
  expect((await ask(app, method, path)).status).toBe(401)
  expect((await call(method, path, undefined, 'ann@example.com')).status).toBe(403)
  const body = method === 'PATCH' ? { name: '' } : path.endsWith('members') ? { userId: 5 } : undefined
  const expected = path === '/api/groups' ? (method === 'GET' ? 200 : 400) : 404
  expect((await call(method, path, method === 'GET' ? undefined : body)).status).toBe(expected)
})

test('a group is created, changed, listed and deleted', async () => {
  const made = await call('POST', '/api/groups', { name: 'Writers', description: 'They write' })
  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    id: expect.any(String),
    name: 'Writers',
    description: 'They write',
    memberCount: 0,
    createdAt: '2026-11-20T12:00:00.000Z',
  })
  const path = `/api/groups/${made.body['id']}`
  expect((await call('PATCH', path, { description: null })).body).toMatchObject({
    name: 'Writers',
    description: null,
  })
  expect((await call('PATCH', path, { name: 'Editors' })).body).toMatchObject({
    name: 'Editors',
    description: null,
  })
  const list = (await call('GET', '/api/groups?search=EDIT')).body
  expect(list['data']).toEqual([(await call('GET', path)).body])
  expect(list['pagination']).toEqual({ page: 1, limit: 20, total: 1, pages: 1 })
  expect((await call('DELETE', path)).status).toBe(204)
  expect((await call('GET', path)).status).toBe(404)
})

test('names are unique, ignoring case', async () => {
  const a = await newGroup('Night')
  const b = await newGroup('Day')
  expect((await call('POST', '/api/groups', { name: 'night' })).status).toBe(409)
  expect((await call('PATCH', `/api/groups/${b}`, { name: 'NIGHT' })).status).toBe(409)
  expect((await call('PATCH', `/api/groups/${a}`, { name: 'NIGHT' })).status).toBe(200)
})

test.each([
  [{}],
  [{ name: '' }],
  [{ name: '  ' }],
  [{ name: 'x'.repeat(101) }],
  [{ name: 'x', description: 7 }],
])('400 for %j', async (body) => {
  expect((await call('POST', '/api/groups', body)).status).toBe(400)
})

test('members can be added and removed once', async () => {
  const members = `/api/groups/${await newGroup('Team')}/members`
  const added = await call('POST', members, { userId: ann })
  expect(added.status).toBe(201)
  expect(added.body).toEqual({ userId: ann, email: 'ann@example.com', addedAt: '2026-11-20T12:00:00.000Z' })
  expect((await call('POST', members, { userId: ann })).status).toBe(409)
  expect((await call('GET', members)).body).toEqual({ members: [added.body] })
  expect((await call('GET', '/api/groups?search=team')).body['data']).toMatchObject([{ memberCount: 1 }])
  expect((await call('DELETE', `${members}/${ann}`)).status).toBe(204)
  expect((await call('DELETE', `${members}/${ann}`)).status).toBe(404)
  expect((await call('POST', members, { userId: NO_ID })).status).toBe(404)
  expect((await call('POST', members, {})).status).toBe(400)
})

test('roles by a group end at once when a user leaves it, and when it is deleted', async () => {
  const project = await ask(app, 'POST', '/api/projects', {
    as: 'root@example.com',
    json: { owner: 'acme', name: 'docs' },
  })
  const path = `/api/projects/${project.body['id']}`
  const sees = async () => (await ask(app, 'GET', path, { as: 'ann@example.com' })).status
  const group = await newGroup('Readers')
  expect(await sees()).toBe(404)
  await call('POST', `${path}/permissions/groups`, { groupId: group, role: 'viewer' })
  expect(await sees()).toBe(404)
  await call('POST', `/api/groups/${group}/members`, { userId: ann })
  expect(await sees()).toBe(200)
  await call('DELETE', `/api/groups/${group}/members/${ann}`)
  expect(await sees()).toBe(404)
  await call('POST', `/api/groups/${group}/members`, { userId: ann })
  expect(await sees()).toBe(200)
  await call('DELETE', `/api/groups/${group}`)
  expect(await sees()).toBe(404)
})
