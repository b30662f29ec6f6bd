import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operatorGrant } from '../../modules/auth/authorize.ts'
import { putSecret } from '../../modules/secrets/service.ts'
import { type PipelineApp, pipelineApp, type RunOptions, step } from '../../testing/pipeline-app.ts'
import { createTestCa } from '../../testing/test-ca.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-http-request-'))
let app: PipelineApp
let backend: Bun.Server<undefined>

beforeAll(async () => {
  const ca = createTestCa()
  writeFileSync(join(folder, 'ca.pem'), ca.pem)
  backend = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: ca.issue({ names: ['backend.test'] }),
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/slow') await Bun.sleep(5000)
      if (pathname === '/text')
        return new Response('{"not":"json"}', { headers: { 'content-type': 'text/plain' } })
      if (pathname.startsWith('/long/')) return new Response('x'.repeat(Number(pathname.slice(6))))
      if (pathname === '/moved') return Response.redirect('https://127.0.0.1/', 302)
      const body = await request.text()
      const headers = Object.fromEntries(request.headers)
      const status = pathname === '/bad' ? 418 : 200
      return Response.json(
        { method: request.method, headers, body },
        { status, headers: { 'x-back': 'yes' } },
      )
    },
  })
  app = await pipelineApp({
    PROXY_ALLOWED_TARGETS: 'backend.test',
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  })
})
afterAll(async () => {
  await backend.stop(true)
  app.close()
  rmSync(folder, { recursive: true })
})

type Answered = {
  status: number
  headers: Record<string, string>
  body: { method: string; headers: Record<string, string>; body: string }
}
const ask = async (path: string, config: Record<string, unknown> = {}, options: RunOptions = {}) => {
  const url = `https://backend.test:${backend.port}${path}`
  const { status, body } = await app.answer([step('h', 'http_request', { url, ...config })], options)
  return { status, error: body as Record<string, unknown>, data: (body as { data: Answered }).data }
}

test('returns status, headers and a parsed body', async () => {
  const { data } = await ask('/')
  expect(data).toMatchObject({ status: 200, headers: { 'x-back': 'yes' }, body: { method: 'GET', body: '' } })
  expect((await ask('/text')).data.body as unknown).toBe('{"not":"json"}')
})

test.each([
  ['of a visitor', 'input.text'],
  ['of an earlier step', 'steps.before'],
  ['written so that it looks like none', "'{\\{secrets.TOKEN}}'"],
])('a text %s that looks like a template is sent as it is: it reaches no secret', async (_whose, body) => {
  putSecret(app.ctx, operatorGrant(app.projectId), 'TOKEN', 't0k3n')
  const url = `https://backend.test:${backend.port}/`
  const before = step('before', 'function_handler', {
    code: 'const handler = ({ request }) => request.body.text',
  })
  const { body: answered } = await app.answer(
    [before, step('h', 'http_request', { url, method: 'POST', body })],
    {
      json: { text: '{{secrets.TOKEN}}' },
    },
  )
  expect((answered as { data: Answered }).data.body.body).toBe('{{secrets.TOKEN}}')
})

test.each<[what: string, config: Record<string, unknown>, body: string, type: string]>([
  ['an object as JSON', { body: { a: 'input.name', n: 1 } }, '{"a":"A \\"b\\"","n":1}', 'application/json'],
  ['an expression that is an object', { body: 'request.body' }, '{"name":"A \\"b\\""}', 'application/json'],
  ['a text', { body: 'Hello' }, 'Hello', 'text/plain; charset=utf-8'],
  ['a template', { body: 'Hi {{input.name}}' }, 'Hi A "b"', 'text/plain; charset=utf-8'],
  [
    'a template that is escaped as its type asks',
    { body: '{"a":"{{input.name}}"}', headers: { 'Content-Type': 'application/json' } },
    '{"a":"A \\"b\\""}',
    'application/json',
  ],
])('sends %s', async (_, config, body, type) => {
  const { data } = await ask('/', { method: 'post', ...config }, { json: { name: 'A "b"' } })
  expect([data.body.method, data.body.body, data.body.headers['content-type']]).toEqual(['POST', body, type])
})

test('sends the configured headers, and none of the visitor', async () => {
  const headers = { Authorization: 'Bearer {{input.t}}', 'X-None': 'input.nobody' }
  const { data } = await ask(
    '/',
    { headers },
    { json: { t: 'x' }, headers: { cookie: 'a=1', 'x-api-key': 'k' } },
  )
  expect(data.body.headers['authorization']).toBe('Bearer x')
  for (const name of ['x-none', 'cookie', 'x-api-key'])
    expect(Object.keys(data.body.headers)).not.toContain(name)
})

test.each<[what: string, path: string, config: Record<string, unknown>]>([
  ['is not 2xx', '/bad', {}],
  ['is a redirect, which is not followed', '/moved', {}],
  ['does not come in time', '/slow', { timeout: 100 }],
  ['comes from nowhere', '/', { url: 'https://nobody.invalid/' }],
  ['comes from a private address', '/', { url: 'https://10.0.0.1/', timeout: 500 }],
  ['would come without TLS', '/', { url: 'http://backend.test/' }],
])('502 when the answer %s', async (_, path, config) => {
  expect((await ask(path, config)).error).toMatchObject({ statusCode: 502, error: 'Bad Gateway', step: 'h' })
})

test('a configured accept header replaces the default', async () => {
  const accept = async (headers: Record<string, string>) =>
    (await ask('/', { headers })).data.body.headers['accept']
  expect(await accept({})).toBe('*/*')
  expect(await accept({ Accept: 'text/csv' })).toBe('text/csv')
})

test('a response of more than 10 MiB is not read to its end', async () => {
  const max = 10 * 1024 * 1024
  expect((await ask(`/long/${max}`)).data.body as unknown).toHaveLength(max)
  expect(await ask(`/long/${max + 1}`)).toMatchObject({ status: 502, error: { step: 'h' } })
})

test.each<[what: string, path: string, config: Record<string, unknown>, message: string]>([
  [
    'an answer that is too long',
    `/long/${10 * 1024 * 1024 + 1}`,
    {},
    'The server that the step calls answered more than 10485760 bytes (10 MiB)',
  ],
  [
    'a header that cannot be sent',
    '/',
    { headers: { 'X-Name': 'input.name' } },
    'The header "x-name" of the request cannot be sent',
  ],
  ['no TLS', '/', { url: 'http://{{input.host}}/' }, 'The target must be an HTTPS URL'],
  [
    'no server',
    '/',
    { url: 'https://nobody.invalid/' },
    'The server that the step calls could not be reached',
  ],
])('says what failed: %s', async (_, path, config, message) => {
  const { error } = await ask(path, config, { json: { name: '日本', host: 'backend.test' } })
  expect(error).toMatchObject({ statusCode: 502, message, step: 'h' })
})

test('failOnError: false continues with any response, but no response is still 502', async () => {
  const { data } = await ask('/bad', { failOnError: false })
  expect([data.status, data.body.method]).toEqual([418, 'GET'])
  expect((await ask('/slow', { timeout: 100, failOnError: false })).status).toBe(502)
})

test('a late response is reported as late, whichever timer fires first', async () => {
  const timeouts = Array.from({ length: 40 }, (_, i) => 300 + i)
  await Promise.all(timeouts.map(() => ask('/')))
  const answers = await Promise.all(timeouts.map((timeout) => ask('/slow', { timeout })))
  expect(answers.map(({ error }) => error['message'])).toEqual(
    timeouts.map((ms) => `The server that the step calls did not answer within ${ms} ms`),
  )
})
