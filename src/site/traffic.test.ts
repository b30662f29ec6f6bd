import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

const HOST = 'docs.sites.test'

let app: TestApp
beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' })
})
afterAll(() => app.close())

test('the split adds to a response’s own headers for variants, cookies and caches', async () => {
  const files = { 'index.html': 'x' }
  const seed = { owner: 'acme', repo: 'docs', sha: '1'.repeat(40), alias: 'stable', files }
  const { projectId } = await seedDeployment(app, seed)
  const post = (path: string, json: unknown) => ask(app, 'POST', path, { as: SEED_OWNER, json })
  const domain = await post('/api/domains', { projectId, hostname: HOST, alias: 'stable' })
  const weights = [{ alias: 'stable', weight: 100 }]
  const rules = [{ type: 'header', key: 'x-lane', value: 'a', alias: 'stable' }]
  const split = { weights, rules, sticky: true, stickySeconds: 60 }
  const path = `/api/domains/${String(domain.body['id'])}/traffic`
  expect((await ask(app, 'PUT', path, { as: SEED_OWNER, json: split })).status).toBe(200)
  const headers = { 'x-variant': 'mine', vary: 'accept-language', 'set-cookie': 'own=1' }
  const steps = [{ id: 'r', handlerType: 'response_handler', config: { body: '{}', headers } }]
  const rule = { pathPattern: '/api', proxyType: 'pipeline', pipelineConfig: { steps } }
  expect((await post(`/api/proxy-rules/project/${projectId}`, rule)).status).toBe(201)

  const answer = await app.call('GET', '/api', { host: HOST })
  expect(answer.headers.get('x-variant')).toBe('stable')
  const vary = answer.headers.get('vary')?.toLowerCase().split(/, */) ?? []
  expect(vary).toEqual(['accept-language', 'x-lane'])
  const cookies = answer.headers.getSetCookie()
  expect(cookies).toHaveLength(2)
  expect(cookies[0]).toStartWith('own=1')
  expect(cookies[1]).toContain('=stable;')
})
