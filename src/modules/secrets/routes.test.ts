import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask, NO_ID } from '../../testing/ask.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { openSecret } from './service.ts'

let app: TestApp
let docs: string
let other: string

beforeAll(async () => {
  app = await testApp()
  await app.addUser('root@example.com', 'admin')
  for (const name of ['owner', 'admin', 'contributor', 'viewer', 'guest', 'stranger'])
    await app.addUser(`${name}@example.com`)
  docs = await newProject('docs')
  other = await newProject('other')
  for (const role of ['admin', 'contributor', 'viewer', 'guest'])
    await call('POST', `/api/projects/${docs}/permissions/users`, { email: `${role}@example.com`, role })
})
afterAll(() => app.close())

const call = (method: string, path: string, json?: unknown, as = 'owner@example.com') =>
  ask(app, method, path, { as, json })

const newProject = async (name: string) =>
  String((await call('POST', '/api/projects', { owner: 'acme', name })).body['id'])

const actors: [who: string, list: number, write: number][] = [
  ['owner', 200, 204],
  ['admin', 200, 204],
  ['contributor', 200, 403],
  ['viewer', 403, 403],
  ['guest', 403, 403],
  ['stranger', 404, 404],
]

test.each(actors)('%s: list %p, write %p', async (who, list, write) => {
  const as = `${who}@example.com`
  const path = `/api/projects/${docs}/secrets`
  expect((await call('GET', path, undefined, as)).status).toBe(list)
  expect((await call('PUT', `${path}/A`, { value: 'x' }, as)).status).toBe(write)
  expect((await call('DELETE', `${path}/A`, undefined, as)).status).toBe(write)
})

test('names are listed, values never', async () => {
  const path = `/api/projects/${docs}/secrets`
  expect(await call('PUT', `${path}/MAIL_TOKEN`, { value: 'hush-hush-1' })).toEqual({ status: 204, body: {} })
  app.advance(1000)
  await call('PUT', `${path}/MAIL_TOKEN`, { value: 'hush-hush-2' })
  expect((await call('GET', path)).body).toEqual({
    secrets: [{ name: 'MAIL_TOKEN', usableBy: 'contributor', updatedAt: '2026-11-20T12:00:01.000Z' }],
  })
  expect(openSecret(app.ctx, docs, 'MAIL_TOKEN')).toBe('hush-hush-2')
  expect(openSecret(app.ctx, other, 'MAIL_TOKEN')).toBeUndefined()
  expect((await call('DELETE', `/api/projects/${other}/secrets/MAIL_TOKEN`)).status).toBe(404)
  expect((await call('DELETE', `${path}/MAIL_TOKEN`)).status).toBe(204)
  expect((await call('DELETE', `${path}/MAIL_TOKEN`)).status).toBe(404)
})

test('a stored value is sealed for its project and name', async () => {
  await call('PUT', `/api/projects/${docs}/secrets/A`, { value: 'hush-hush' })
  await call('PUT', `/api/projects/${other}/secrets/A`, { value: 'mine' })
  const stored = app.ctx.db.sqlite
    .query<{ sealed_value: string }, []>('SELECT sealed_value FROM project_secrets')
    .all()
  expect(JSON.stringify(stored)).not.toContain('hush-hush')
  app.ctx.db.sqlite.run(
    'UPDATE project_secrets SET sealed_value = (SELECT sealed_value FROM project_secrets WHERE project_id = ?) WHERE project_id = ?',
    [docs, other],
  )
  expect(() => openSecret(app.ctx, other, 'A')).toThrow()
})

const names: [name: string, status: number][] = [
  ['A', 204],
  ['_a9', 204],
  ['x'.repeat(100), 204],
  ['x'.repeat(101), 400],
  ['9a', 400],
  ['a-b', 400],
  ['a%20b', 400],
  ['%C3%A9', 400],
]

test.each(names)('the name %s: %p', async (name, status) => {
  expect((await call('PUT', `/api/projects/${docs}/secrets/${name}`, { value: 'x' })).status).toBe(status)
})

test('values up to 64 KiB, counted in bytes', async () => {
  const put = async (value: unknown) =>
    (await call('PUT', `/api/projects/${docs}/secrets/BIG`, { value })).status
  expect(await put('x'.repeat(65_536))).toBe(204)
  expect(await put('x'.repeat(65_537))).toBe(400)
  expect(await put('é'.repeat(32_769))).toBe(400)
  expect(await put('')).toBe(204)
  expect(await put(7)).toBe(400)
})

test('unknown projects and other methods', async () => {
  expect((await call('GET', `/api/projects/${NO_ID}/secrets`)).status).toBe(404)
  expect((await call('PUT', `/api/projects/${NO_ID}/secrets/A`, { value: 'x' })).status).toBe(404)
  expect((await call('GET', `/api/projects/${docs}/secrets/A`)).status).toBe(405)
})
