import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ToolRule, type ToolsApp, toolsApp } from '../testing/tools-app.ts'

const AT = '/.well-known/oauth-protected-resource'
const describing = (config: Record<string, unknown>) => ({
  pipeline: { steps: [{ handlerType: 'oauth_protected_resource', config }] },
})
const locked = (steps: Record<string, unknown>[]) => ({
  pipeline: { steps, validators: [{ type: 'auth_required', config: { allowApiKey: true } }] } as never,
})
const serving = locked([
  { handlerType: 'mcp_handler', config: { serverInfo: { name: 'x', version: '1' }, tools: [] } },
])
const RULES: ToolRule[] = [
  {
    path: `${AT}*`,
    method: 'GET',
    ...describing({
      resource: '/api/mcp',
      scopes: ['read:notes'],
      resourceName: 'Notes',
      resourceDocumentation: 'https://example.com/docs',
      authorizationServers: ['https://auth.example.com'],
    }),
  },
  { path: '/api/other-description', ...describing({ resource: '/api/b%C3%BCcher' }) },
  { path: '/api/mcp', ...serving },
  { path: '/api/mcp/inner', ...serving },
  { path: '/api/elsewhere', ...serving },
  { path: '/api/form', ...locked([{ handlerType: 'form_handler', config: { fields: {} } }]) },
]

let open: ToolsApp
let hidden: ToolsApp
beforeAll(async () => {
  ;[open, hidden] = await Promise.all([toolsApp(RULES), toolsApp(RULES, false)])
})
afterAll(() => {
  open.app.close()
  hidden.app.close()
})

test.each([[AT], [`${AT}/api/mcp`], ['/.well-known/oauth-protected%2Dresource/api/mcp']])(
  'everybody reads %s, on a private site too',
  async (path) => {
    for (const { call, host } of [open, hidden]) {
      const answer = await call('GET', path)
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=300'])
      expect(await answer.json()).toEqual({
        resource: `http://${host}/api/mcp`,
        bearer_methods_supported: ['header'],
        scopes_supported: ['read:notes'],
        resource_name: 'Notes',
        resource_documentation: 'https://example.com/docs',
        authorization_servers: ['https://auth.example.com'],
      })
    }
  },
)

test('a second resource is described at its own path, whatever the pattern of its rule', async () => {
  const answer = await hidden.call('GET', `${AT}/api/b%C3%BCcher`)
  expect(await answer.json()).toEqual({
    resource: `http://${hidden.host}/api/b%C3%BCcher`,
    bearer_methods_supported: ['header'],
  })
})

test.each([[`${AT}/api`], [`${AT}/api/mcp/x`], [`${AT}/`]])('404 for %s', async (path) => {
  expect((await hidden.call('GET', path)).status).toBe(404)
})

test('the rest of a private site stays hidden, and so does a step elsewhere', async () => {
  expect((await hidden.call('GET', '/')).status).toBe(404)
  expect((await hidden.call('GET', `${AT}x`)).status).toBe(404)
  expect((await hidden.call('POST', AT)).status).toBe(404)
  expect((await open.call('GET', '/api/other-description')).status).toBe(404)
})

test.each([
  ['/api/mcp', '/api/mcp'],
  ['/api/mcp/inner', '/api/mcp'],
  ['/api/elsewhere', null],
  ['/api/form', null],
])('the 401 of %s names the description of %p', async (path, resource) => {
  const answer = await open.call('POST', path, { json: {} })
  const named = resource && `Bearer resource_metadata="http://${open.host}${AT}${resource}"`
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, named])
})
