import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../testing/ask.ts'
import { DOCS, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

const ROOT = 'root@example.com'

let app: TestApp
let projectId = ''
let schemaId = ''

beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  const seeded = await seedDeployment(app, { ...DOCS, alias: 'live' })
  projectId = seeded.projectId
  const json = { projectId, name: 'notes', fields: [{ name: 'text', type: 'string' }] }
  schemaId = String((await ask(app, 'POST', '/api/schemas', { as: ROOT, json })).body['id'])
})
afterAll(() => app.close())

/** contract §2: the paginated lists, and those added later. */
test.each([
  '/api/deployments',
  '/api/aliases',
  '/api/api-keys',
  '/api/users',
  '/api/groups',
  '/api/domains',
  '/api/schemas/SCHEMA/records',
  '/api/logs',
  '/api/audit',
  '/api/projects/PROJECT/files',
  '/api/projects/PROJECT/pipeline-runs',
])('%s accepts page, limit, sort and order', async (list) => {
  const path = list.replace('SCHEMA', schemaId).replace('PROJECT', projectId)
  const get = (query: string) => ask(app, 'GET', `${path}?${query}`, { as: ROOT })
  for (const query of ['', 'sort=createdAt', 'sort=createdAt&order=asc', 'order=desc&limit=100'])
    expect(await get(query)).toMatchObject({ status: 200, body: { data: expect.any(Array) } })
  expect(await get('page=700&limit=3')).toMatchObject({
    status: 200,
    body: {
      data: [],
      pagination: { page: 700, limit: 3, total: expect.any(Number), pages: expect.any(Number) },
    },
  })
  for (const query of ['limit=101', 'limit=0', 'page=0', 'page=x', 'sort=nothing', 'order=up'])
    expect((await get(query)).status).toBe(400)
})

/** A form sends a field that was left empty. */
test.each([
  '/api/deployments?projectId=&owner=&repo=&branch=&commitSha=&alias=',
  '/api/aliases?projectId=&owner=&repo=&name=',
  '/api/api-keys?projectId=',
  '/api/users?email=&search=',
])('%s is the whole list', async (path) => {
  await app.addUser(`${path.length}@example.com`, 'user')
  await ask(app, 'POST', '/api/api-keys', { as: ROOT, json: { name: 'ci', isGlobal: true } })
  const { body } = await ask(app, 'GET', path, { as: ROOT })
  const all = await ask(app, 'GET', path.replace(/\?.*/, ''), { as: ROOT })
  expect(body).toEqual(all.body)
  expect(body['data']).not.toBeEmpty()
})
