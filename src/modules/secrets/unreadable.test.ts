import { expect, test } from 'bun:test'
import { createSecretBox } from '../../platform/secret-box.ts'
import { newSecretKey } from '../../platform/secret-keys.ts'
import { startUpkeep } from '../../server/upkeep.ts'
import { testApp } from '../../testing/test-app.ts'

test('a start with a different key is logged; with the right key nothing is logged', async () => {
  const app = await testApp()
  const as = 'root@example.com'
  await app.addUser(as, 'admin')
  const project = await app.call('POST', '/api/projects', { as, json: { owner: 'acme', name: 'docs' } })
  const { id } = await project.json()
  await app.call('PUT', `/api/projects/${id}/secrets/TOKEN`, { as, json: { value: 'hidden words' } })

  await startUpkeep(app.ctx)()
  expect(app.lines).toEqual([])
  await startUpkeep({ ...app.ctx, secrets: createSecretBox([newSecretKey()]) })()
  expect(app.lines.join('')).toContain('stored secrets were sealed with a different key')
  expect(app.lines.join('')).toContain('TOKEN of acme/docs')
  expect(app.lines.join('')).not.toContain('hidden words')
  app.close()
})

test('unreadable tables are logged, and the other background work starts', async () => {
  const app = await testApp()
  app.ctx.db.sqlite.run('ALTER TABLE project_secrets RENAME TO lost')
  await startUpkeep(app.ctx)()
  expect(app.lines.join('')).toContain('the stored secrets could not be checked')
  app.close()
})
