import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { flushRuns } from '../../modules/runs/service.ts'
import { type ToolRule, type ToolsApp, toolsApp } from '../../testing/tools-app.ts'

const answer = (body: unknown, more: Record<string, unknown> = {}) => ({
  pipeline: { steps: [{ id: 'say', handlerType: 'response_handler', config: { body, ...more } }] },
})
const tool = (name: string, path: string, method?: 'GET') => ({
  name,
  description: `Calls ${path}, not {{secrets.X}}`,
  inputSchema: { type: 'object' },
  rule: { path, ...(method && { method }) },
})
const guarded = (validator: Record<string, unknown>) => ({
  pipeline: { ...answer({ who: 'user.email', ok: true }).pipeline, validators: [validator] } as never,
})

const CONFIG = {
  serverInfo: { name: 'notes', version: '1.2.3' },
  instructions: 'Say hello',
  tools: [
    {
      ...tool('echo.body', '/api/echo'),
      title: 'Echo',
      annotations: { readOnlyHint: true },
      visibility: ['app'],
    },
    tool('find', '/api/find', 'GET'),
    tool('list', '/api/list'),
    tool('text', '/api/text'),
    tool('ready', '/api/ready'),
    tool('wrong', '/api/wrong'),
    tool('locked', '/api/locked'),
    tool('limited', '/api/limited'),
    tool('nowhere', '/api/nowhere'),
    tool('file', '/index.html', 'GET'),
    tool('proxied', '/api/proxied'),
    tool('itself', '/api/mcp'),
    tool('service', '/_svc/files/x'),
    tool('odd', '/api/odd'),
  ],
  resources: {
    static: [
      { uri: 'notes://all', name: 'All', mimeType: 'text/markdown', rule: { path: '/api/text' } },
      { uri: 'notes://none', name: 'None', rule: { path: '/api/nowhere' } },
    ],
  },
}

const RULES: ToolRule[] = [
  { path: '/api/mcp', pipeline: { steps: [{ id: 'mcp', handlerType: 'mcp_handler', config: CONFIG }] } },
  {
    path: '/api/echo',
    method: 'POST',
    ...answer({ body: 'request.body', by: 'user', type: "request.headers['content-type']" }),
  },
  { path: '/api/find', method: 'GET', ...answer({ q: 'request.query' }) },
  { path: '/api/list', ...answer('[1, 2]') },
  { path: '/api/text', ...answer('# Notes', { contentType: 'text/markdown' }) },
  {
    path: '/api/ready',
    ...answer({ content: [{ type: 'text', text: 'made' }], structuredContent: { a: 1 } }),
  },
  { path: '/api/wrong', ...answer({ error: 'NOPE', message: 'not today' }, { status: 422 }) },
  { path: '/api/locked', ...guarded({ type: 'auth_required', config: { allowApiKey: true } }) },
  {
    path: '/api/limited',
    ...guarded({ type: 'rate_limit', config: { limit: 1, windowSeconds: 60, keyBy: 'ip' } }),
  },
  { path: '/api/odd', ...guarded({ type: 'auth_required', config: { of: 'tomorrow' } }) },
  {
    path: '/api/proxied',
    rest: { proxyType: 'external_proxy', targetUrl: 'https://example.com', description: 'elsewhere' },
  },
]

let site: ToolsApp
beforeAll(async () => {
  site = await toolsApp(RULES)
})
afterAll(() => site.app.close())

async function ask(message: unknown, headers: Record<string, string> = {}, more: { key?: string } = {}) {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const all = { 'content-type': 'application/json', ...headers }
  const response = await site.call('POST', '/api/mcp', { body, headers: all, ...more })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text), response }
}
const rpc = (method: string, params?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const callTool = async (name: string, args?: unknown, more: { key?: string } = {}) =>
  (await ask(rpc('tools/call', { name, arguments: args }), {}, more)).body.result

describe.each([['legacy'], [{ pin: '2026-07-28' }]] as const)('the official client (%p)', (mode) => {
  async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const transport = new StreamableHTTPClientTransport(new URL(`http://${site.host}/api/mcp`), {
      fetch: async (url, init) => {
        const request = new Request(url, init as RequestInit)
        request.headers.set('host', site.host)
        return site.app.app.fetch(request, { address: '127.0.0.1' })
      },
    })
    await client.connect(transport)
    try {
      return await use(client)
    } finally {
      await client.close()
    }
  }

  test('lists and calls tools', () =>
    withClient(async (client) => {
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(CONFIG.tools.map(({ name }) => name))
      expect(tools[0]).toMatchObject({
        title: 'Echo',
        description: 'Calls /api/echo, not {{secrets.X}}',
        annotations: { readOnlyHint: true },
        _meta: { ui: { visibility: ['app'] } },
      })
      expect(tools[0]).not.toHaveProperty('rule')
      const called = await client.callTool({ name: 'echo/body', arguments: { a: { b: 'ü' } } })
      expect(called.structuredContent).toMatchObject({ body: { a: { b: 'ü' } }, by: null })
      expect((await client.callTool({ name: 'wrong' })).isError).toBe(true)
      expect(client.getInstructions()).toBe('Say hello')
    }))

  test('lists and reads resources', () =>
    withClient(async (client) => {
      const { resources } = await client.listResources()
      expect(resources[0]).toEqual({ uri: 'notes://all', name: 'All', mimeType: 'text/markdown' })
      const { contents } = await client.readResource({ uri: 'notes://all' })
      expect(contents).toEqual([{ uri: 'notes://all', mimeType: 'text/markdown', text: '# Notes' }])
      expect(client.readResource({ uri: 'notes://nothing' })).rejects.toThrow()
      expect(client.readResource({ uri: 'notes://none' })).rejects.toThrow('No rule of the site')
    }))
})

test.each([
  ['2025-11-25', '2025-11-25'],
  ['2025-06-18', '2025-06-18'],
  ['2025-03-26', '2025-03-26'],
  ['2024-11-05', '2025-11-25'],
  [undefined, '2025-11-25'],
])('initialize with %p speaks %s', async (asked, spoken) => {
  const { body } = await ask(rpc('initialize', { protocolVersion: asked, capabilities: {} }))
  expect(body.result).toEqual({
    protocolVersion: spoken,
    serverInfo: CONFIG.serverInfo,
    capabilities: { tools: {}, resources: {} },
    instructions: 'Say hello',
  })
})

test.each<[what: string, message: unknown, status: number, id: unknown, code: number]>([
  ['no JSON', '{"jsonrpc"', 400, null, -32700],
  ['nothing', '', 400, null, -32700],
  ['a batch', [rpc('ping')], 400, null, -32600],
  ['an empty batch', [], 400, null, -32600],
  ['no object', '1', 400, null, -32600],
  ['another version of JSON-RPC', { ...rpc('ping'), jsonrpc: '1.0' }, 400, 1, -32600],
  ['no method', { jsonrpc: '2.0', id: 'a' }, 400, 'a', -32600],
  ['a response', { jsonrpc: '2.0', id: 1, result: {} }, 400, 1, -32600],
  ['an id that is null', rpc('ping', {}, null), 400, null, -32600],
  ['params that are a list', rpc('ping', [1]), 200, 1, -32602],
  ['an unknown method', rpc('prompts/list'), 200, 1, -32601],
  ['a method of the new era', rpc('server/discover'), 200, 1, -32601],
  ['a method of every object', rpc('constructor'), 200, 1, -32601],
  ['an unknown tool', rpc('tools/call', { name: 'none' }), 200, 1, -32602],
  ['arguments that are no object', rpc('tools/call', { name: 'list', arguments: 1 }), 200, 1, -32602],
  ['an unknown resource', rpc('resources/read', { uri: 'x' }), 200, 1, -32002],
])('%s is an error', async (_, message, status, id, code) => {
  const answered = await ask(message)
  expect([answered.status, answered.body.id, answered.body.error.code]).toEqual([status, id, code])
})

test('a notification is taken without a body; ping gets an empty result', async () => {
  const { status, body } = await ask({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect([status, body]).toEqual([202, null])
  expect((await ask(rpc('ping', undefined, 'p'))).body).toEqual({ jsonrpc: '2.0', id: 'p', result: {} })
})

test('only POST, and from no page of another origin', async () => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const refused = await site.call(method, '/api/mcp')
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
  }
  for (const origin of ['https://evil.example', 'null'])
    expect((await ask(rpc('ping'), { origin })).status).toBe(403)
  expect((await ask(rpc('ping'), { origin: `http://${site.host}` })).status).toBe(200)
})

describe('2026-07-28', () => {
  const modern = (method: string, params: Record<string, unknown> = {}, version = '2026-07-28') => ({
    message: rpc(method, {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    }),
    headers: {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...('name' in params && { 'mcp-name': String(params['name']) }),
      ...('uri' in params && { 'mcp-name': String(params['uri']) }),
    } as Record<string, string>,
  })

  test('discovers', async () => {
    const { message, headers } = modern('server/discover')
    expect((await ask(message, headers)).body.result).toEqual({
      resultType: 'complete',
      ttlMs: 60_000,
      cacheScope: 'private',
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
      capabilities: { tools: {}, resources: {} },
      instructions: 'Say hello',
      _meta: { 'io.modelcontextprotocol/serverInfo': CONFIG.serverInfo },
    })
  })

  test.each([['tools/list'], ['resources/list']])('%s may be kept by this caller', async (method) => {
    const { message, headers } = modern(method)
    expect((await ask(message, headers)).body.result).toMatchObject({
      resultType: 'complete',
      ttlMs: 60_000,
      cacheScope: 'private',
    })
  })

  test.each<[what: string, change: Record<string, string | undefined>]>([
    ['another version', { 'mcp-protocol-version': '2025-11-25' }],
    ['no version', { 'mcp-protocol-version': undefined }],
    ['another method', { 'mcp-method': 'tools/list' }],
    ['no method', { 'mcp-method': undefined }],
    ['another name', { 'mcp-name': 'text' }],
    ['no name', { 'mcp-name': undefined }],
  ])('headers that say %s are refused', async (_, change) => {
    const { message, headers } = modern('tools/call', { name: 'list' })
    const sent = Object.entries({ ...headers, ...change }).filter(([, value]) => value !== undefined)
    const { status, body } = await ask(message, Object.fromEntries(sent) as Record<string, string>)
    expect([status, body.id, body.error.code]).toEqual([400, 1, -32020])
  })

  test('a name in Base64 counts, and a header alone declares nothing', async () => {
    const { message, headers } = modern('tools/call', { name: 'list' })
    const coded = `=?base64?${Buffer.from('list').toString('base64')}?=`
    expect((await ask(message, { ...headers, 'mcp-name': coded })).body.result.resultType).toBe('complete')
    expect((await ask(rpc('ping'), headers)).body.error.code).toBe(-32020)
    expect((await ask(rpc('ping'), { 'mcp-protocol-version': '2025-06-18' })).body.result).toEqual({})
  })

  test('an unknown version and an unknown method', async () => {
    const future = modern('tools/list', {}, '2027-01-01')
    const { status, body } = await ask(future.message, future.headers)
    expect([status, body.error.code, body.error.data.supported[0]]).toEqual([400, -32022, '2026-07-28'])
    for (const method of ['initialize', 'prompts/list']) {
      const { message, headers } = modern(method)
      const unknown = await ask(message, headers)
      expect([unknown.status, unknown.body.error.code]).toEqual([404, -32601])
    }
  })
})

describe('a tool', () => {
  test.each<[name: string, args: unknown, result: Record<string, unknown>]>([
    ['list', {}, { structuredContent: { value: [1, 2] }, content: [{ type: 'text', text: '[1, 2]' }] }],
    ['text', {}, { structuredContent: { text: '# Notes' }, content: [{ type: 'text', text: '# Notes' }] }],
    ['ready', {}, { structuredContent: { a: 1 }, content: [{ type: 'text', text: 'made' }] }],
    [
      'find',
      { a: 'x', b: [1, 2], c: null, d: { e: 1 } },
      { structuredContent: { q: { a: 'x', b: ['1', '2'], d: '{"e":1}' } } },
    ],
    ['wrong', {}, { isError: true, content: [{ type: 'text', text: 'NOPE: not today' }] }],
    ['odd', {}, { isError: true }],
  ])('%s', async (name, args, result) => {
    expect(await callTool(name, args)).toMatchObject(result)
  })

  test.each([
    ['nowhere', 'No rule of the site answers POST /api/nowhere'],
    ['file', 'No rule of the site answers GET /index.html'],
    ['proxied', 'What answers POST /api/proxied is no pipeline'],
    ['itself', 'What answers POST /api/mcp serves tools itself'],
    ['service', 'No rule of the site answers POST /_svc/files/x'],
  ])('%s is called by nobody', async (name, text) => {
    expect(await callTool(name)).toEqual({ content: [{ type: 'text', text }], isError: true })
  })

  test('runs as the caller, by the validators of its own rule', async () => {
    expect(await callTool('locked')).toMatchObject({
      isError: true,
      content: [{ text: 'Unauthorized: Sign in to use this' }],
    })
    expect(await callTool('locked', {}, { key: site.key })).toMatchObject({ structuredContent: { ok: true } })
    const bearer = { authorization: `Bearer ${site.key}` }
    expect((await ask(rpc('tools/call', { name: 'locked' }), bearer)).body.result.isError).toBeUndefined()
    await site.app.addUser('eve@example.com')
    const cookie = await site.app.cookieOf('eve@example.com', site.host)
    const asEve = await ask(rpc('tools/call', { name: 'locked' }), {
      cookie,
      'sec-fetch-site': 'same-origin',
    })
    expect(asEve.body.result.structuredContent).toEqual({ who: 'eve@example.com', ok: true })
  })

  test('is counted by the limit of its rule, together with other requests', async () => {
    expect((await site.call('POST', '/api/limited', { json: {} })).status).toBe(200)
    expect(await callTool('limited')).toMatchObject({ isError: true })
  })

  test('is in the run log under its own rule', async () => {
    await callTool('text')
    flushRuns(site.app.ctx)
    const runs = site.app.ctx.db.sqlite
      .query<{ run: string }, []>(
        "SELECT path || ' ' || triggered_by AS run FROM pipeline_runs ORDER BY id DESC LIMIT 2",
      )
      .all()
    expect(runs.map(({ run }) => run).sort()).toEqual(['/api/mcp request', '/api/text mcp'])
  })
})
