import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask } from '../../../testing/ask.ts'
import { cookieHeader, type TestApp, testApp } from '../../../testing/test-app.ts'
import { createTestCa } from '../../../testing/test-ca.ts'

/** What a provider's discovery document gets wrong is said. contract 12.7. */
const START = '/api/auth/oidc/one/start'
const ca = createTestCa()
const folder = mkdtempSync(join(tmpdir(), 'svc-discovery-'))
const caFile = join(folder, 'ca.pem')
writeFileSync(caFile, ca.pem)

let answer: () => Response
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  tls: ca.issue({ names: ['127.0.0.1'] }),
  fetch: () => answer(),
})
const issuer = `https://127.0.0.1:${server.port}`
const DOCUMENT = {
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
}
const saying = (change: object) => () => Response.json({ ...DOCUMENT, ...change })

const appFor = (at: string, log = 'warn') =>
  testApp({
    LOG_LEVEL: log,
    NODE_EXTRA_CA_CERTS: caFile,
    OIDC_PROVIDERS: JSON.stringify([
      { id: 'one', displayName: 'One', issuer: at, clientId: 'svc', clientSecret: 's3cret' },
    ]),
  })

let app: TestApp
beforeAll(async () => {
  app = await appFor(issuer)
  await app.addUser('root@example.com', 'admin')
})
beforeEach(() => {
  app.lines.length = 0
})
afterAll(async () => {
  app.close()
  await server.stop(true)
  rmSync(folder, { recursive: true })
})

describe('another issuer is 502 with both values and one line in the log, and no advice to try again', () => {
  test.each<[found: unknown, shown: string]>([
    ['https://id.example.com', 'https://id.example.com'],
    [`${issuer}/realms/one`, `${issuer}/realms/one`],
    [issuer.replace('https', 'http'), issuer.replace('https', 'http')],
    ['no address', 'no'],
    [undefined, 'nothing'],
    [7, '7'],
    [`https://id.example.com/${'x'.repeat(10_000)}\n`, 'https://id.example.com/xxx'],
  ])('%p', async (found, shown) => {
    answer = saying({ issuer: found })
    const { status, body } = await ask(app, 'GET', START)
    expect([status, body['error']]).toEqual([502, 'OIDC_ISSUER_MISMATCH'])
    for (const value of [issuer, shown]) expect(String(body['message'])).toContain(value)
    expect(String(body['message'])).not.toMatch(/try again/i)
    expect(String(body['message']).length).toBeLessThan(700)
    expect(app.lines).toHaveLength(1)
    for (const value of [issuer, shown]) expect(app.lines[0]).toContain(value)
  })

  test('the same address with the slash of an empty path is no other', async () => {
    const fresh = await appFor(issuer)
    answer = saying({ issuer: `${issuer}/` })
    expect((await fresh.call('GET', START)).status).toBe(302)
    fresh.close()
  })

  test('also when the document changed while somebody was at the provider', async () => {
    const fresh = await appFor(issuer)
    answer = saying({})
    await fresh.call('GET', START)
    fresh.advance(55 * 60_000)
    const started = await fresh.call('GET', START)
    const state = new URL(started.headers.get('location') ?? '').searchParams.get('state') ?? ''
    answer = saying({ issuer: 'https://id.example.com' })
    fresh.advance(6 * 60_000)
    const back = `/api/auth/oidc/one/callback?${new URLSearchParams({ state, code: 'x' })}`
    const headers = { cookie: cookieHeader(started) }
    const { status, body } = await ask(fresh, 'GET', back, { headers })
    expect([status, body['error']]).toEqual([502, 'OIDC_ISSUER_MISMATCH'])
    expect(fresh.lines).toHaveLength(1)
    fresh.close()
  })
})

describe('another failure says which', () => {
  test.each<[what: string, answer: () => Response, message: RegExp, again: boolean]>([
    ['a status of 404', () => new Response('', { status: 404 }), /status 404/, false],
    ['a status of 503', () => new Response('', { status: 503 }), /status 503/, true],
    ['a redirect', () => Response.redirect(`${issuer}/other`, 302), /status 302/, false],
    ['HTML', () => new Response('<!doctype html>'), /not JSON/, false],
    ['a list', () => Response.json([]), /not JSON/, false],
    ['nothing', () => new Response(''), /not JSON/, false],
    [
      'an endpoint over HTTP',
      saying({ token_endpoint: 'http://127.0.0.1/token' }),
      /token_endpoint is not HTTPS/,
      false,
    ],
    ['a script', saying({ authorization_endpoint: 'javascript:alert(1)' }), /is not HTTPS/, false],
    ['no keys', saying({ jwks_uri: undefined }), /jwks_uri is not HTTPS/, false],
  ])('%s', async (_what, answering, message, again) => {
    answer = answering
    const { status, body } = await ask(app, 'GET', START)
    expect([status, body['error']]).toEqual([502, 'Bad Gateway'])
    expect(body['message']).toMatch(message)
    expect(/try again/i.test(String(body['message']))).toBe(again)
    expect(app.lines).toHaveLength(1)
    expect(app.lines[0]).toMatch(message)
  })

  test.each([
    ['nobody listens', 'https://127.0.0.1:1'],
    ['the name does not resolve', 'https://nowhere.invalid'],
  ])('not reached: %s', async (_what, at) => {
    const alone = await appFor(at)
    const { status, body } = await ask(alone, 'GET', START)
    expect([status, body['message']]).toEqual([502, 'One was not reached. Try again in a minute.'])
    expect(alone.lines).toHaveLength(1)
    alone.close()
  })
})
