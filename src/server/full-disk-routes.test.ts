import { afterAll, beforeAll, expect, test } from 'bun:test'
import { requestOf } from '../testing/access-request.ts'
import { ACCESS_TABLE, type Content } from '../testing/access-table.ts'
import { type ActorName, createWorld, type World } from '../testing/access-world.ts'
import { PASSWORD } from '../testing/test-app.ts'

/**
 * What may write while the reserve is given up: every DELETE, signing in and out, and moving an alias, also for a session and
 * a key that were not used for a while. All else is 507. contract 12.11.
 */

let world: World
let isSpent = false
beforeAll(async () => {
  world = await createWorld()
  world.app.ctx.db.reserve = { release: () => false, isSpent: () => isSpent, stop: async () => {} }
  world.app.advance(10 * 60_000)
})
afterAll(() => world.close())

async function statusOf(
  route: string,
  content?: Content,
  actor: ActorName = 'global admin',
): Promise<number> {
  const stop = () => {
    isSpent = false
  }
  isSpent = true
  try {
    return (await world.call(actor, 'admin', requestOf(route, world.ids, content), stop)).status
  } finally {
    stop()
  }
}

const deletes = [
  ...new Set(ACCESS_TABLE.map(([route]) => route).filter((route) => route.startsWith('DELETE '))),
]

test('there is a DELETE for most things', () => {
  expect(deletes.length).toBeGreaterThan(20)
})

test.each(deletes)('%s finds room', async (route) => {
  const content = ACCESS_TABLE.find(([one]) => one === route)?.[2]
  expect(await statusOf(route, content)).not.toBe(507)
})

test.each<[route: string, content: Content]>([
  ['POST /api/auth/signout', {}],
  ['POST /api/auth/signin', { json: { email: 'admin@example.com', password: PASSWORD } }],
  ['PATCH /api/aliases/:aliasId', { json: { deploymentId: '{deploymentId}' } }],
  ['GET /api/projects', {}],
])('%s %j finds room', async (route, content) => {
  expect(await statusOf(route, content)).not.toBe(507)
})

test.each<[route: string, content: Content]>([
  ['PATCH /api/aliases/:aliasId', { json: { isSpa: true } }],
  ['PATCH /api/projects/:projectId', { json: { displayName: 'New' } }],
  ['POST /api/projects', { json: { owner: 'acme', name: 'new' } }],
  ['POST /api/schemas/:schemaId/records', { json: { note: 'x' } }],
  ['PATCH /api/schemas/:schemaId/records/:recordId', { json: { note: 'x' } }],
  ['PUT /api/projects/:projectId/secrets/:secretName', { json: { value: 'x' } }],
  ['POST /api/api-keys', { json: { name: 'more', isGlobal: true } }],
])('%s %j is 507', async (route, content) => {
  expect(await statusOf(route, content)).toBe(507)
})

test('a key that was not used for a while can be used', async () => {
  expect(await statusOf('GET /api/deployments', {}, 'project key')).toBe(200)
})
