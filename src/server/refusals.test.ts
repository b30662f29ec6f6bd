import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../testing/ask.ts'
import { seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

const ROOT = 'root@example.com'
const SHA = 'a'.repeat(40)

let app: TestApp
let projectId = ''
let deploymentId = ''

beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  const seed = (sha: string) =>
    seedDeployment(app, { owner: 'acme', repo: 'docs', sha, files: { 'index.html': 'Docs' } })
  ;({ projectId, deploymentId } = await seed(SHA))
  await seed(`${'a'.repeat(39)}b`)
})
afterAll(() => app.close())

/** contract §2: problems that the validator cannot see are reported in the same way. */
test.each<[string, Record<string, unknown>, string]>([
  ['/api/api-keys', { name: 'ci' }, 'projectId'],
  ['/api/api-keys', { name: 'ci', isGlobal: true, repository: 'acme/docs' }, 'isGlobal'],
  ['/api/projects/PROJECT/transfer-ownership', {}, 'userId'],
  ['/api/projects/PROJECT/permissions/users', { role: 'viewer' }, 'userId'],
  ['/api/projects/PROJECT/invitations', { email: 'ann@example.com', role: 'owner' }, 'role'],
  ['/api/aliases', { projectId: 'PROJECT', name: 'beta' }, 'deploymentId'],
  ['/api/aliases', { projectId: 'PROJECT', name: 'beta', commitSha: 'aaaaaaa' }, 'commitSha'],
  [
    '/api/aliases',
    { projectId: 'PROJECT', name: 'beta', commitSha: 'bbbbbbb', deploymentId: 'DEPLOYMENT' },
    'commitSha',
  ],
])('POST %s with %j is rejected with the field in details', async (path, json, field) => {
  const named = (text: string) => text.replace('PROJECT', projectId).replace('DEPLOYMENT', deploymentId)
  const sent: unknown = JSON.parse(named(JSON.stringify(json)))
  const { status, body } = await ask(app, 'POST', named(path), { as: ROOT, json: sent })
  expect({ status, details: body['details'] }).toEqual({
    status: 400,
    details: [{ path: field, message: String(body['message']) }],
  })
})
