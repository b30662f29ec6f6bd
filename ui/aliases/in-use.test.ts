import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../../src/testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, browserOf } from '../testing/browser.ts'

/** contract 12.9: an alias that a domain maps to or a traffic split names is not deleted, by the API or its page. */

const OWNER = SEED_OWNER
const SITE = { owner: 'acme', repo: 'docs', files: { 'index.html': 'x' } }

let app: TestApp
beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' })
  await app.addUser(ADMIN, 'admin')
})
afterAll(() => app.close())

const call = (method: string, path: string, json?: unknown) => ask(app, method, path, { as: OWNER, json })
const map = async (projectId: string, hostname: string, alias: string): Promise<string> =>
  String((await call('POST', '/api/domains', { projectId, hostname, alias })).body['id'])

/** The alias `Next`, with two hosts that are mapped to it and two whose splits name it. */
async function usedAlias() {
  const { projectId } = await seedDeployment(app, { ...SITE, sha: 'aaaaaaa1', alias: 'stable' })
  const { aliasId } = await seedDeployment(app, { ...SITE, sha: 'aaaaaaa2', alias: 'Next' })
  const mapped = [
    await map(projectId, 'mapped.sites.test', 'next'),
    await map(projectId, 'unproven.example', 'Next'),
  ]
  const weighed = await map(projectId, 'weighed.sites.test', 'stable')
  const ruled = await map(projectId, 'ruled.sites.test', 'stable')
  await map(projectId, 'other.sites.test', 'stable')
  const stable = { alias: 'stable', weight: 100 }
  const weights = [stable, { alias: 'next', weight: 0 }]
  await call('PUT', `/api/domains/${weighed}/traffic`, { weights })
  const rules = [{ type: 'query', key: 'v', value: '1', alias: 'next' }]
  await call('PUT', `/api/domains/${ruled}/traffic`, { weights: [stable], rules })
  return { projectId, aliasId, mapped, split: [weighed, ruled] }
}

test('it is 409 naming the hosts, until they show others', async () => {
  const { projectId, aliasId, mapped, split } = await usedAlias()
  const path = `/api/aliases/${aliasId}`
  const message =
    'The alias Next is in use; mapped to it: mapped.sites.test, unproven.example; named by the traffic split of: ruled.sites.test, weighed.sites.test. Change these domains first.'
  expect((await call('DELETE', path)).body).toEqual({ statusCode: 409, message, error: 'ALIAS_IN_USE' })

  const page = `/projects/${projectId}/aliases/${aliasId}`
  const html = await (await browserOf(app).open(page, { as: OWNER })).text()
  for (const host of ['mapped.sites.test', 'unproven.example', 'weighed.sites.test', 'ruled.sites.test'])
    expect(html).toContain(`<code>${host}</code>`)
  expect(html).not.toContain('Delete this alias')
  const sent = await browserOf(app).submit(page, { intent: 'delete' }, { as: OWNER })
  expect([sent.status, await sent.text()]).toEqual([409, expect.stringContaining('is in use; mapped to it')])

  await call('PATCH', `/api/domains/${mapped[0]}`, { alias: 'stable' })
  await call('DELETE', `/api/domains/${mapped[1]}`)
  expect((await call('DELETE', path)).body['message']).toStartWith(
    'The alias Next is in use; named by the traffic split of: ruled.sites.test, weighed.sites.test.',
  )
  for (const id of split) await call('DELETE', `/api/domains/${id}/traffic`)
  expect((await call('DELETE', path)).status).toBe(204)
})

test('hosts of another project do not hold an alias of the same name', async () => {
  const own = await seedDeployment(app, { ...SITE, repo: 'own', sha: 'bbbbbbb1', alias: 'live' })
  const other = await seedDeployment(app, { ...SITE, repo: 'other', sha: 'bbbbbbb2', alias: 'live' })
  await map(other.projectId, 'live.sites.test', 'live')
  expect((await call('DELETE', `/api/aliases/${own.aliasId}`)).status).toBe(204)
})
