import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitForVariants } from './modules/deployments/variants.ts'
import { seedDeployment } from './testing/seed.ts'
import { testApp } from './testing/test-app.ts'
import { startUpkeep } from './upkeep.ts'

test('a start removes what a crash left and goes on with what waits; stopping ends both', async () => {
  const app = await testApp()
  const { host } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    files: { 'app.js': 'some words '.repeat(500) },
  })
  const leftover = join(app.ctx.config.dataDir, 'blobs', 'packs', 'left-over.pack')
  writeFileSync(leftover, 'x')

  const stop = startUpkeep(app.ctx)
  await waitForVariants(app.ctx)
  await stop()

  expect(existsSync(leftover)).toBe(false)
  const answer = await app.call('GET', '/app.js', { host, headers: { 'accept-encoding': 'br' } })
  expect(answer.headers.get('content-encoding')).toBe('br')
  expect(app.lines).toEqual([])
  app.close()
})
