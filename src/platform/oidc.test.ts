import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, sign } from 'node:crypto'
import type { OidcProvider } from '../config/config.ts'
import { createTestCa } from '../testing/test-ca.ts'
import { createOidcClient, OidcFailure, OidcRefusal } from './oidc.ts'
import { createOutbound } from './outbound.ts'

const CALLBACK = 'https://svc.example/callback'
const SECRET = 'a-secret-that-no-log-may-hold'

const ca = createTestCa()
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const outbound = createOutbound({ allowedTargets: ['127.0.0.1'], extraCaPem: ca.pem })

/** What the provider gets wrong: fields of its documents, or a whole response by path. */
let wrong: {
  discovery?: Record<string, unknown>
  claims?: Record<string, unknown>
  answers?: Record<string, () => Response>
} = {}
let nonce = ''
beforeEach(() => {
  wrong = {}
})

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  tls: ca.issue({ names: ['127.0.0.1'] }),
  fetch({ url }): Response {
    const { pathname } = new URL(url)
    const answer = wrong.answers?.[pathname]?.()
    if (answer !== undefined) return answer
    if (pathname === '/token') return Response.json(tokens())
    if (pathname === '/jwks')
      return Response.json({
        keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig' }],
      })
    return Response.json({ ...DISCOVERY, ...wrong.discovery })
  },
})
afterAll(async () => {
  outbound.close()
  await server.stop(true)
})

const issuer: string = `https://127.0.0.1:${server.port}`
const DISCOVERY = {
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
}
const PROVIDER = {
  id: 'one',
  displayName: 'One',
  issuer,
  clientId: 'svc',
  clientSecret: 'of the client',
  scopes: ['openid'],
}

function tokens(): Record<string, string> {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: issuer, aud: 'svc', iat, exp: iat + 300, nonce, sub: 'ann', ...wrong.claims }
  const [header, payload] = [{ alg: 'RS256', kid: 'one' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signature = sign('sha256', Buffer.from(`${header}.${payload}`), keys.privateKey)
  const id_token = `${header}.${payload}.${signature.toString('base64url')}`
  return { access_token: SECRET, token_type: 'Bearer', id_token }
}

/** Signs in at the provider and comes back, with the parameters that the provider adds to the URL. */
async function signIn(more: Record<string, string> = {}, provider: OidcProvider = PROVIDER) {
  const client = createOidcClient(outbound, Date.now)
  const { url, ...kept } = await client.start(provider, CALLBACK)
  nonce = kept.nonce
  const query = new URLSearchParams({ code: SECRET, state: kept.state, ...more })
  return client.finish(provider, CALLBACK, kept, new URL(`${CALLBACK}?${query}`))
}

const failureOf = async (trying: Promise<unknown>): Promise<unknown> =>
  trying.then(
    () => 'it was taken',
    (error: unknown) => error,
  )

test('a valid response identifies the person', async () => {
  expect(await signIn()).toEqual({ subject: 'ann', email: null, isEmailVerified: false })
  wrong.claims = { azp: 'svc' }
  expect(await signIn()).toMatchObject({ subject: 'ann' })
})

/** contract 12.7 */
describe('whether the email is verified', () => {
  test.each<[claim: unknown, isVerified: boolean, whenTrusted: boolean]>([
    [true, true, true],
    ['true', true, true],
    [undefined, false, true],
    [false, false, false],
    ['false', false, false],
    ['TRUE', false, false],
    ['', false, false],
    [null, false, false],
    [1, false, false],
  ])('email_verified %p: %p, and %p with trustEmail', async (email_verified, isVerified, whenTrusted) => {
    wrong.claims = { email: 'Ann@B\u00fccher.example', email_verified }
    const email = 'ann@xn--bcher-kva.example'
    expect(await signIn()).toEqual({ subject: 'ann', email, isEmailVerified: isVerified })
    expect(await signIn({}, { ...PROVIDER, trustEmail: true })).toMatchObject({
      isEmailVerified: whenTrusted,
    })
  })

  test('an email that is none is not taken', async () => {
    wrong.claims = { email: 'ann@a..b', email_verified: true }
    expect(await signIn()).toMatchObject({ email: null })
  })
})

describe('an ID token is rejected', () => {
  test.each<[string, Record<string, unknown>]>([
    ['without a subject', { sub: '' }],
    ['with a subject that is too long', { sub: 'x'.repeat(256) }],
    ['that was issued to another client for this one to read', { azp: 'other' }],
  ])('%s', async (_name, claims) => {
    wrong.claims = claims
    expect(await failureOf(signIn())).toBeInstanceOf(OidcFailure)
  })
})

test.each(['javascript:alert(1)', 'http://127.0.0.1/auth', '/auth', 7, null])(
  'browsers are not sent to %p',
  async (authorization_endpoint) => {
    wrong.discovery = { authorization_endpoint }
    expect(await failureOf(createOidcClient(outbound, Date.now).start(PROVIDER, CALLBACK))).toBeInstanceOf(
      OidcFailure,
    )
  },
)

describe('errors do not contain what was sent', () => {
  const deep = () =>
    new Response('['.repeat(300_000) + ']'.repeat(300_000), {
      headers: { 'content-type': 'application/json' },
    })
  const cases: [string, typeof wrong, Record<string, string>][] = [
    ['an answer for another issuer', {}, { iss: 'https://evil.example' }],
    ['no ID token', { answers: { '/token': () => Response.json({ ...tokens(), id_token: undefined }) } }, {}],
    ['a nonce of another flow', { claims: { nonce: SECRET } }, {}],
    ['a signature by another key', { answers: { '/token': () => Response.json(forged()) } }, {}],
    ['a document that is nested without end', { answers: { '/token': deep } }, {}],
    ['keys that are nested without end', { answers: { '/jwks': deep } }, {}],
    [
      'words of the provider',
      { answers: { '/token': () => Response.json({ error: SECRET }, { status: 400 }) } },
      {},
    ],
  ]
  const forged = () => ({ ...tokens(), id_token: `${tokens()['id_token']?.slice(0, -8)}AAAAAAAA` })

  test.each(cases)('%s', async (_name, is, more) => {
    wrong = is
    const error = await failureOf(signIn(more))
    expect(error).toBeInstanceOf(OidcFailure)
    const { message, cause } = error as OidcFailure
    expect(cause).toBeUndefined()
    expect(message).not.toContain(SECRET)
    expect(message.length).toBeLessThan(300)
  })

  test('the error code of the provider is reported: a used code differs from a wrong secret', async () => {
    wrong.answers = { '/token': () => Response.json({ error: 'invalid_grant' }, { status: 400 }) }
    expect((await failureOf(signIn())) as OidcFailure).toHaveProperty(
      'message',
      expect.stringMatching(/: invalid_grant$/),
    )
  })

  test('a refusal by the provider is an OidcRefusal', async () => {
    expect(await failureOf(signIn({ error: 'access_denied' }))).toBeInstanceOf(OidcRefusal)
  })
})
