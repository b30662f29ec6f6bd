import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { DOCS, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** contract 12.8: `Authorization: Bearer svc_…` counts wherever `X-API-Key` does. */

const HOST = 'production--docs--acme.localhost'
const ROOT = 'root@example.com'
let app: TestApp
let key: string
let projectKey: string
let projectId: string

beforeAll(async () => {
  app = await testApp({ RATE_LIMIT_UPLOAD: '3' })
  await app.addUser(ROOT, 'admin')
  projectId = (await seedDeployment(app, { ...DOCS, alias: 'production', isPublic: false })).projectId
  key = await newKey({ isGlobal: true })
  projectKey = await newKey({ projectId })
  const steps = [
    { id: 'r', handlerType: 'response_handler', config: { body: '{"h":{{{request.headers}}}}' } },
  ]
  const validators = [{ type: 'auth_required', config: { allowApiKey: true } }]
  const made = await ask(app, 'POST', `/api/proxy-rules/project/${projectId}`, {
    as: ROOT,
    json: { pathPattern: '/api/echo', proxyType: 'pipeline', pipelineConfig: { steps, validators } },
  })
  expect(made.status).toBe(201)
})
afterAll(() => app.close())

const newKey = async (scope: object) =>
  String((await ask(app, 'POST', '/api/api-keys', { as: ROOT, json: { name: 'k', ...scope } })).body['key'])

const bearer = (token: string, scheme = 'Bearer') => ({ authorization: `${scheme} ${token}` })

test.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])('the API takes %j', async (scheme) => {
  expect((await ask(app, 'GET', '/api/projects', { headers: bearer(key, scheme) })).status).toBe(200)
  expect(
    (await ask(app, 'GET', `/api/projects/${projectId}`, { headers: bearer(projectKey, scheme) })).body,
  ).toMatchObject({
    role: 'contributor',
  })
})

const REFUSED: [what: string, headers: () => Record<string, string>][] = [
  ['an unknown key', () => bearer('svc_unknown')],
  ['a key with something behind it', () => bearer(`${key}x`)],
  ['another scheme', () => bearer(key, 'Token')],
  ['no scheme', () => ({ authorization: key })],
  ['another token', () => bearer('eyJhbGciOi')],
  ['a good one beside a bad X-API-Key, which wins', () => ({ ...bearer(key), 'x-api-key': 'svc_unknown' })],
]
test.each(REFUSED)('401 for %s', async (_what, headers) => {
  expect((await ask(app, 'GET', '/api/projects', { headers: headers() })).status).toBe(401)
})

test('a good X-API-Key wins over a bad bearer, and a key over a session', async () => {
  const wins = await ask(app, 'GET', '/api/projects', { key, headers: bearer('svc_unknown') })
  expect(wins.status).toBe(200)
  expect((await ask(app, 'GET', '/api/users', { as: ROOT, headers: bearer(key) })).status).toBe(403)
  expect((await ask(app, 'GET', '/api/users', { as: ROOT, headers: bearer('svc_unknown') })).status).toBe(401)
  expect((await ask(app, 'GET', '/api/users', { as: ROOT, headers: bearer('other') })).status).toBe(200)
})

test('content and pipelines take it, and a bad one is none', async () => {
  const get = (path: string, headers: Record<string, string>) =>
    app.call('GET', path, { host: HOST, headers })
  expect((await get('/', bearer(projectKey))).status).toBe(200)
  expect((await get('/', bearer('svc_unknown'))).status).toBe(404)
  expect((await get('/api/echo', bearer(projectKey))).status).toBe(200)
  const cookie = await app.cookieOf(ROOT)
  expect((await get('/', { cookie, ...bearer('svc_unknown') })).status).toBe(404)
  expect((await get('/', { cookie })).status).toBe(200)
  expect((await get('/', { cookie, ...bearer('svc_unknown') })).status).toBe(404)
})

test('no pipeline sees it, whichever way it is spelled, and other tokens it does', async () => {
  const seen = async (authorization: string, auth: Record<string, string>) => {
    const answer = await app.call('GET', '/api/echo', { host: HOST, headers: { ...auth, authorization } })
    return ((await answer.json()) as { h: Record<string, string> }).h
  }
  const xKey = { 'x-api-key': projectKey }
  for (const authorization of [`Bearer ${projectKey}`, `bearer  ${key}`, `Basic x, Bearer ${key}`])
    expect(await seen(authorization, xKey)).not.toHaveProperty('authorization')
  for (const authorization of ['Bearer other', 'Basic YTpi', `Token ${key}`])
    expect(await seen(authorization, xKey)).toHaveProperty('authorization', authorization)
})

describe('writing', () => {
  const write = (headers: Record<string, string>) =>
    ask(app, 'POST', '/api/schemas', {
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example', ...headers },
      json: { projectId, name: `s${crypto.randomUUID()}`, fields: [] },
    })

  test('a request with a key is not forged, whatever cookie and Origin come with it', async () => {
    const cookie = await app.cookieOf(ROOT)
    expect((await write({ cookie })).body['error']).toBe('CROSS_ORIGIN_REQUEST')
    expect((await write({ cookie, ...bearer('other') })).body['error']).toBe('CROSS_ORIGIN_REQUEST')
    expect((await write({ cookie, ...bearer(projectKey) })).status).toBe(201)
  })

  test('an upload takes it and counts per key', async () => {
    const upload = (token: string) =>
      app.call('POST', '/api/deployments?owner=acme&repo=docs&commitSha=abc1234', {
        headers: { ...bearer(token), 'content-type': 'application/zip' },
        body: 'no zip',
      })
    for (let i = 0; i < 3; i++) expect((await upload(projectKey)).status).toBe(400)
    expect((await upload(projectKey)).status).toBe(429)
    expect((await upload(key)).status).toBe(400)
  })
})
