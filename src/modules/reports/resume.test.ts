import { expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { testApp } from '../../testing/test-app.ts'
import { upload } from '../releases/releases.fixture.ts'
import { resumeReports, waitForReports } from './service.ts'

/** A server takes up the reports that an earlier process left. contract 13 §7. */
test('what is not made yet is made once the server is up; what is deleted meanwhile is not', async () => {
  const app = await testApp()
  await seedDeployment(app, { owner: 'acme', repo: 'web', sha: 'f'.repeat(40), files: { 'index.html': 'x' } })
  const publish = async (sha: string) => {
    const files = { 'index.html': '<a href="/none">', '404.html': 'x' }
    const { body } = await upload(app, files, { commitSha: sha.repeat(40) })
    return body.deploymentId ?? body.deployment?.id ?? ''
  }
  const [kept, deleted] = [await publish('a'), await publish('b')]
  const report = (id: string) => ask(app, 'GET', `/api/deployments/${id}/report`, { as: SEED_OWNER })
  expect((await report(kept)).body).toMatchObject({ status: 'running', completedAt: null, findings: [] })
  await resumeReports(app.ctx)
  await ask(app, 'DELETE', `/api/deployments/${deleted}`, { as: SEED_OWNER })
  await waitForReports(app.ctx)
  expect((await report(kept)).body).toMatchObject({ status: 'complete', kinds: { 'link-missing': 1 } })
  expect((await report(deleted)).status).toBe(404)
  await app.close()
})
