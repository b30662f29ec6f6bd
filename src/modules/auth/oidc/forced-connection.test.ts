import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../../../testing/ask.ts'
import { type OidcServer, oidcServer } from '../../../testing/oidc-server.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../../../testing/test-app.ts'

const CALLBACK = 'http://localhost:3000/api/auth/oidc/one/callback'
const START = '/api/auth/oidc/one/start'
const MALLORY = { sub: 'mallory-1', email: 'mallory@example.com', email_verified: true }

let provider: OidcServer
let app: TestApp
beforeAll(async () => {
  provider = await oidcServer({ redirectUris: [CALLBACK] })
  app = await testApp(provider.env)
  await app.addUser('root@example.com', 'admin')
})
afterAll(async () => {
  app.close()
  await provider.close()
})

/** Goes to the provider and back as that email; at the provider, the browser is signed in as somebody else. */
async function goAway(email: string, headers: Record<string, string>): Promise<string> {
  provider.person = MALLORY
  const cookie = await app.cookieOf(email)
  const started = await app.call('GET', START, { headers: { cookie, ...headers } })
  const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
  const answer = await app.call('GET', `${back.pathname}${back.search}`, {
    headers: { cookie: `${cookie}; ${cookieHeader(started)}`, 'sec-fetch-site': 'cross-site' },
  })
  return answer.headers.get('location') ?? ''
}

const connectionsOf = async (email: string) =>
  (await ask(app, 'GET', '/api/account', { headers: { cookie: await app.cookieOf(email) } })).body[
    'connections'
  ]

describe('a connection is made only from the account page', () => {
  const page = (path: string) => `http://localhost:3000${path}`
  const elsewhere: [string, Record<string, string>][] = [
    ['another site', { 'sec-fetch-site': 'cross-site', referer: 'https://evil.example/account' }],
    [
      'the form of the sign-in page',
      { 'sec-fetch-site': 'same-origin', referer: page(`/signin?redirect=${START}`) },
    ],
    ['hosted content, in a browser that names pages only', { referer: page('/public/o/r/production/') }],
    ['the account page of another port', { referer: 'http://localhost:3001/account' }],
    ['nowhere', {}],
  ]
  test.each(elsewhere)('not from %s', async (name, headers) => {
    const email = `${name.replaceAll(/\W/g, '')}@example.com`
    await app.addUser(email)
    expect(await goAway(email, headers)).not.toContain('done=connected')
    expect(await connectionsOf(email)).toEqual([])
  })

  test.each<[string, Record<string, string>]>([
    ['named', { 'sec-fetch-site': 'same-origin', referer: page('/account?done=mfa-off') }],
    ['not named, by a browser that keeps it to itself', { 'sec-fetch-site': 'same-origin' }],
    ['named by an old browser', { referer: page('/account') }],
  ])('from there, %s', async (name, headers) => {
    const email = `from-${name.replaceAll(/\W/g, '')}@example.com`
    await app.addUser(email)
    expect(await goAway(email, headers)).toBe('/account?done=connected')
    await app.call('DELETE', '/api/account/connections/one', { as: email })
  })
})

test.each([
  START,
  `${START}?redirect=%2Faccount`,
  `/.${START}`,
  `/x/..${START}`,
  `http://localhost:3000${START}`,
])('signing in does not lead on to a call of ours: %s', async (redirect) => {
  const form = new URLSearchParams({ email: 'root@example.com', password: PASSWORD, redirect })
  const answer = await app.call('POST', '/signin', {
    body: form,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/'])
  const signedIn = await app.call('GET', `/signin?${new URLSearchParams({ redirect })}`, {
    as: 'root@example.com',
  })
  expect(signedIn.headers.get('location')).toBe('/')
})

test('the link of an invited account ends when a provider signs its owner in', async () => {
  const made = await ask(app, 'POST', '/api/users', {
    as: 'root@example.com',
    json: { email: 'new@example.com' },
  })
  const token = new URL(String(made.body['inviteUrl'])).searchParams.get('token')
  provider.person = { sub: 'new-1', email: 'new@example.com', email_verified: true }
  const started = await app.call('GET', START)
  const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
  const headers = { cookie: cookieHeader(started) }
  expect((await app.call('GET', `${back.pathname}${back.search}`, { headers })).headers.get('location')).toBe(
    '/',
  )
  const json = { token, password: 'the password of a thief' }
  const { status, body } = await ask(app, 'POST', '/api/auth/reset-password', { json })
  expect([status, body['error']]).toEqual([400, 'RESET_TOKEN_INVALID'])
})
