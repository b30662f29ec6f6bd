import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
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
