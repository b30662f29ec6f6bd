import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ERROR_CODES } from '../domain/error-codes.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'
import { createApi } from './endpoints.ts'

type Operation = {
  summary?: string
  tags?: string[]
  requestBody?: { content: Record<string, unknown> }
  responses: Record<string, { description: string; content?: Record<string, { schema?: unknown }> }>
}
type OpenApi = {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: {
    securitySchemes: Record<string, unknown>
    schemas: Record<string, { properties: Record<string, { description?: string; examples?: string[] }> }>
  }
}

let app: TestApp
let document: OpenApi
beforeAll(async () => {
  app = await testApp()
  document = await (await app.call('GET', '/api/docs/json')).json()
})
afterAll(() => app.close())

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )

describe('the OpenAPI document', () => {
  test('contains every route and what the admin host serves besides them, and nothing else', () => {
    const routes = createApi(app.ctx)
      .routes.filter(({ path }) => !path.startsWith('/api/docs'))
      .map(({ method, path }) => `${method} ${path.replace(/\/$/, '').replace(/:(\w+)/g, '{$1}')}`)
    const beside = [
      '/public/{owner}/{repo}/{ref}/{path}',
      '/repo/{owner}/{repo}/{sha}/{path}',
      '/repo/{owner}/{repo}/alias/{alias}/{path}',
      '/metrics',
    ]
    const expected = [...routes, ...beside.map((path) => `GET ${path}`)]
    expect(expected.length).toBeGreaterThan(20)
    expect(
      operations()
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...new Set(expected)].sort())
  })

  test('names every code that an error can have', () => {
    const error = document.components.schemas['Error']?.properties['error']
    for (const code of Object.keys(ERROR_CODES)) {
      expect(error?.description).toContain(code)
      expect(error?.examples).toContain(code)
    }
  })

  test('describes every route and its responses', () => {
    const silent = operations().filter(
      ({ operation }) =>
        !operation.summary || !operation.tags?.length || Object.keys(operation.responses).length < 2,
    )
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  test('is OpenAPI 3.1 with both ways to sign in, and an error body for each route', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.components.securitySchemes).sort()).toEqual([
      'apiKey',
      'bearerKey',
      'metrics',
      'session',
    ])
    const answers = operations().flatMap(({ operation }) => Object.values(operation.responses))
    expect(answers.filter(({ description }) => !description)).toEqual([])
    for (const { operation } of operations())
      expect(operation.responses['default']?.content?.['application/json']?.schema).toEqual({
        $ref: '#/components/schemas/Error',
      })
  })

  test('describes inputs in words, with examples and choices', () => {
    const text = JSON.stringify(document.paths['/api/auth/signin'])
    expect(text).toContain('"description":"An email address, such as ann@example.com"')
    expect(text).toContain('"examples":["ann@example.com"]')
    expect(text).toContain('"role":{"type":"string","enum":["admin","user","member"]}')
    expect(JSON.stringify(document)).not.toContain('"error":"')
  })

  test('is the same with a trailing slash', async () => {
    expect(await (await app.call('GET', '/api/docs/json/')).json()).toEqual(document)
  })

  test('gives every whole number as a number only', () => {
    expect(JSON.stringify(document)).not.toContain('"format":"integer"')
    expect(JSON.stringify(document.paths['/api/users']?.['get']?.responses['200'])).toContain(
      '"pagination":{"type":"object","required":["page","limit","total","pages"],"properties":{"page":{"type":"integer"}',
    )
  })

  test.each([
    ['/api/auth/oidc/{provider}/start', '302', undefined],
    ['/api/auth/oidc/{provider}/callback', '302', undefined],
    ['/api/logs/tail', '200', ['text/event-stream']],
    ['/api/schemas/{id}/records/export', '200', ['application/json', 'text/csv']],
  ])('describes the responses of GET %s: %s, %j', (path, status, types) => {
    const { default: _, ...answers } = document.paths[path]?.['get']?.responses ?? {}
    expect(Object.keys(answers)).toEqual([status])
    const content = answers[status]?.content
    expect(content === undefined ? undefined : Object.keys(content).sort()).toEqual(types)
  })

  test('shows an example of every JSON body', () => {
    const bare = operations().filter(({ operation }) => {
      const json = operation.requestBody?.content?.['application/json']
      return json !== undefined && !/"examples?":/.test(JSON.stringify(json))
    })
    expect(bare.map(({ name }) => name)).toEqual([])
  })

  test('does not guess content types: what is JSON is JSON only', () => {
    const content = document.paths['/api/auth/signin']?.['post']?.requestBody?.content
    expect(Object.keys(content ?? {})).toEqual(['application/json'])
  })
})

describe('the explorer', () => {
  test('is a page that refers to no other host and may load from none', async () => {
    const answer = await app.call('GET', '/api/docs')
    const html = await answer.text()
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('text/html')
    expect(html.match(/(src|href)="(?!\/api\/docs|data:,)[^"]*"/g)).toBeNull()
    expect(html).not.toMatch(/https?:|\/\/\w/)
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policy).not.toMatch(/https?:|\*/)
  })

  test.each([
    ['/api/docs/explorer.js', 'text/javascript'],
    ['/api/docs/explorer.css', 'text/css'],
    ['/api/docs/ours.css', 'text/css'],
    ['/api/docs/start.js', 'text/javascript'],
  ])('%s is embedded in the executable', async (path, type) => {
    const answer = await app.call('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith(type)
    expect((await answer.bytes()).length).toBeGreaterThan(100)
  })

  test('its script is sent compressed, and not again while it is unchanged', async () => {
    const headers = { 'accept-encoding': 'gzip, br' }
    const answer = await app.call('GET', '/api/docs/explorer.js', { headers })
    const plain = await app.call('GET', '/api/docs/explorer.js')
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(Bun.gunzipSync(await answer.bytes())).toEqual(await plain.bytes())
    const etag = answer.headers.get('etag') ?? ''
    const again = await app.call('GET', '/api/docs/explorer.js', { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })

  test('rejects other methods', async () => {
    expect((await app.call('POST', '/api/docs')).status).toBe(405)
  })
})
