import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { storeApp } from '../../testing/store-app.ts'
import { testApp } from '../../testing/test-app.ts'

test('concurrent requests share one check, and the next request starts a new one', async () => {
  const app = await testApp()
  const health = async () => (await app.call('GET', '/api/health')).status
  expect(await health()).toBe(200)
  const blobs = join(app.ctx.config.dataDir, 'blobs')
  renameSync(blobs, `${blobs}-away`)
  const answers = await Promise.all(Array.from({ length: 20 }, health))
  expect(answers).toEqual(Array(20).fill(503))
  expect(app.lines.filter((line) => line.includes('health check failed'))).toHaveLength(1)
  renameSync(`${blobs}-away`, blobs)
  expect(await health()).toBe(200)
  app.close()
})

test('a machine that cannot follow says so, and serves sites', async () => {
  const app = await storeApp()
  const state = { number: 3, unshippedBytes: 0, lagMs: 9, isStoreUp: true, error: 'changed by a newer svc' }
  Object.assign(app.ctx.machine ?? {}, { role: () => 'standby', state: () => state })
  const answer = await app.call('GET', '/api/health')
  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { status: 'ok', role: 'standby', checks: { store: { status: 'error', message: expect.any(String) } } },
  ])
  app.close()
})
