import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { NO_QUOTA } from '../quotas/service.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.addUser('root@example.com', 'admin')
  const shared = { 'a.txt': 'x'.repeat(1000) }
  const docs = { owner: 'acme', repo: 'docs' }
  await seedDeployment(app, { ...docs, sha: 'a'.repeat(40), files: { ...shared, 'b.txt': 'y'.repeat(10) } })
  await seedDeployment(app, { ...docs, sha: 'b'.repeat(40), files: { ...shared, 'c.txt': 'z'.repeat(20) } })
  await seedDeployment(app, { owner: 'acme', repo: 'other', sha: 'c'.repeat(40), files: shared })
})
afterAll(() => app.close())

const get = () => ask(app, 'GET', '/api/storage', { as: 'root@example.com' })

test('what each project published, and the space it uses', async () => {
  const { body } = await get()
  expect(body['projects']).toEqual([
    {
      projectId: expect.any(String),
      owner: 'acme',
      name: 'docs',
      deployments: 2,
      files: 4,
      bytes: 2030,
      uniqueBytes: 1030,
      uploads: 0,
      uploadBytes: 0,
      quota: NO_QUOTA,
    },
    {
      projectId: expect.any(String),
      owner: 'acme',
      name: 'other',
      deployments: 1,
      files: 1,
      bytes: 1000,
      uniqueBytes: 1000,
      uploads: 0,
      uploadBytes: 0,
      quota: NO_QUOTA,
    },
  ])
  expect(body).toMatchObject({ contents: 3, contentBytes: 1030, measuredAt: '2026-11-20T12:00:00.000Z' })
  expect(body['diskBytes']).toBeGreaterThanOrEqual(1030)
  expect(body['freeBytes']).toBeLessThanOrEqual(Number(body['totalBytes']))
})

test('is refreshed after a minute', async () => {
  const sha = 'd'.repeat(40)
  await seedDeployment(app, { owner: 'acme', repo: 'new', sha, files: { 'n.txt': 'n' } })
  expect((await get()).body['projects']).toHaveLength(2)
  app.advance(60_000)
  expect((await get()).body['projects']).toHaveLength(3)
})
