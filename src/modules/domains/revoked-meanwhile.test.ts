import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DOCS, SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** Looking for the proof of a domain may take seconds: whoever lost their role meanwhile must not prove it. */

const ADMIN = 'admin@example.com'

let app: TestApp
let projectId = ''
let adminId = ''
let domain: { id: string; verification: { value: string } }
/** Called during the DNS lookup. */
let onLookUp: () => Promise<unknown> = async () => {}

beforeEach(async () => {
  onLookUp = async () => {}
  app = await testApp(
    {},
    {
      resolveTxt: async () => {
        await onLookUp()
        return [domain.verification.value]
      },
    },
  )
  const seeded = await seedDeployment(app, { ...DOCS, alias: 'production' })
  projectId = seeded.projectId
  adminId = await app.addUser(ADMIN)
  const json = { userId: adminId, role: 'admin' }
  await app.call('POST', `/api/projects/${projectId}/permissions/users`, { as: SEED_OWNER, json })
  const made = await app.call('POST', '/api/domains', {
    as: ADMIN,
    json: { projectId, hostname: 'docs.example.com', alias: 'production' },
  })
  domain = await made.json()
})
afterEach(() => app.close())

const verify = () => app.call('POST', `/api/domains/${domain.id}/verify`, { as: ADMIN })
const verifiedAt = () =>
  app.ctx.db.sqlite.query<{ at: number | null }, []>('SELECT verified_at AS at FROM domains').get()?.at

test('a domain is proven with the role', async () => {
  expect((await verify()).status).toBe(200)
  expect(verifiedAt()).toBeNumber()
})

test('and not without it', async () => {
  onLookUp = () =>
    app.call('DELETE', `/api/projects/${projectId}/permissions/users/${adminId}`, { as: SEED_OWNER })
  expect((await verify()).status).toBe(404)
  expect(verifiedAt()).toBeNull()
})

test('nor is a domain that was deleted meanwhile', async () => {
  onLookUp = () => app.call('DELETE', `/api/domains/${domain.id}`, { as: SEED_OWNER })
  expect((await verify()).status).toBe(404)
})
