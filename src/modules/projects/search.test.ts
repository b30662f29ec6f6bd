import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { seedMember } from '../../testing/seed-people.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

const ADMIN = 'root@example.com'
let app: TestApp
let guest: string

beforeAll(async () => {
  app = await testApp()
  await app.addUser(ADMIN, 'admin')
  for (const [name, displayName] of [
    ['website', 'Landing page'],
    ['web-shop', 'Shop'],
    ['handbook', 'Handbook'],
  ])
    await ask(app, 'POST', '/api/projects', { as: ADMIN, json: { owner: 'acme', name, displayName } })
  const [, shop] = await found('?q=')
  guest = await seedMember(app, shop?.id ?? '', 'guest')
})
afterAll(() => app.close())

async function found(query: string, as = ADMIN): Promise<{ id: string; name: string }[]> {
  const { projects } = (await ask(app, 'GET', `/api/projects${query}`, { as })).body
  return projects as { id: string; name: string }[]
}
const namesOf = async (query: string, as?: string) => (await found(query, as)).map(({ name }) => name).sort()

test.each([
  ['', ['handbook', 'web-shop', 'website']],
  ['?q=web', ['web-shop', 'website']],
  ['?q=ACME%2Fweb-', ['web-shop']],
  ['?q=landing', ['website']],
  ['?q=zebra', []],
])('%p finds %j', async (query, names) => {
  expect(await namesOf(query)).toEqual(names)
})

test('returns at most the limit, and only projects the caller may see', async () => {
  expect(await found('?limit=2')).toHaveLength(2)
  expect(await found('?q=web&limit=1')).toHaveLength(1)
  expect(await namesOf('', guest)).toHaveLength(1)
  for (const limit of ['0', '101', 'many'])
    expect(await ask(app, 'GET', `/api/projects?limit=${limit}`, { as: ADMIN })).toMatchObject({
      status: 400,
      body: { message: 'limit: a whole number from 1 to 100' },
    })
})

test('a project that was just created, renamed or deleted is not served from a stale cache', async () => {
  expect(await namesOf('?q=tariff')).toEqual([])
  const made = await ask(app, 'POST', '/api/projects', {
    as: ADMIN,
    json: { owner: 'acme', name: 'tariffs' },
  })
  expect(await namesOf('?q=tariff')).toEqual(['tariffs'])
  const path = `/api/projects/${made.body['id']}`
  await ask(app, 'PATCH', path, { as: ADMIN, json: { displayName: 'Price list' } })
  expect(await namesOf('?q=price')).toEqual(['tariffs'])
  await ask(app, 'DELETE', path, { as: ADMIN })
  expect(await namesOf('?q=price')).toEqual([])
})
