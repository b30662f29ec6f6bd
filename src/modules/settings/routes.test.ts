import { afterEach, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

let app: TestApp
afterEach(() => app.close())

async function start(env: Record<string, string> = {}) {
  app = await testApp(env)
  await app.addUser('root@example.com', 'admin')
}

const root = (method: string, json?: unknown) =>
  ask(app, method, '/api/settings', { as: 'root@example.com', json })

test('the defaults, and the database overriding them', async () => {
  await start()
  const defaults = {
    requireProjectMembership: { value: false, source: 'default' },
    allowPublicSignups: { value: false, source: 'default' },
    privateSiteResponse: { value: 'not_found', source: 'default' },
    pictures: { value: true, source: 'default' },
  }
  expect((await root('GET')).body).toEqual(defaults)
  const changed = await root('PATCH', { allowPublicSignups: true, privateSiteResponse: 'login', unknown: 1 })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({
    ...defaults,
    allowPublicSignups: { value: true, source: 'database' },
    privateSiteResponse: { value: 'login', source: 'database' },
  })
  expect((await root('GET')).body).toEqual(changed.body)
  expect((await root('PATCH', {})).body).toEqual(changed.body)
})

test('a setting that the environment fixes is a conflict, and nothing of the patch is stored', async () => {
  await start({ FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' })
  const refused = await root('PATCH', { allowPublicSignups: true, requireProjectMembership: false })
  expect(refused.status).toBe(409)
  expect((await root('GET')).body).toMatchObject({
    requireProjectMembership: { value: true, source: 'environment' },
    allowPublicSignups: { value: false, source: 'default' },
  })
})

test.each([
  [{ requireProjectMembership: 'yes' }],
  [{ allowPublicSignups: null }],
  [{ privateSiteResponse: 'redirect' }],
  [{ pictures: 'off' }],
  [[]],
])('400 for %j', async (body) => {
  await start()
  expect((await root('PATCH', body)).status).toBe(400)
})

test('for global admins only', async () => {
  await start()
  await app.addUser('ann@example.com', 'user')
  for (const method of ['GET', 'PATCH']) {
    expect((await ask(app, method, '/api/settings')).status).toBe(401)
    expect((await ask(app, method, '/api/settings', { as: 'ann@example.com' })).status).toBe(403)
  }
})

test('a change applies from the next request on', async () => {
  await start()
  const signup = () =>
    ask(app, 'POST', '/api/auth/signup', {
      json: { email: 'new@example.com', password: 'correct horse battery' },
    })
  expect((await signup()).body['error']).toBe('PUBLIC_SIGNUP_DISABLED')
  await root('PATCH', { allowPublicSignups: true })
  expect((await signup()).status).toBe(201)
})
