import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa } from './test-ca.ts'

export type OidcPerson = { sub: string; email?: string; email_verified?: boolean }

/** A real, certified OpenID provider on loopback with TLS, where `person` is signed in at once. */
export type OidcServer = {
  issuer: string
  /** The environment of a server that may reach and trust it. */
  env: Record<string, string>
  /** The person to sign in; null makes the provider refuse. */
  person: OidcPerson | null
  /** Follows redirects at the provider like a browser, and returns the URL it finally sends the browser back to. */
  visit(url: string): Promise<string>
  close(): Promise<void>
}

type OidcServerOptions = {
  redirectUris: readonly string[]
  /** Puts the email into the ID token; otherwise only the user info endpoint returns it. */
  emailInIdToken?: boolean
  signingAlg?: 'RS256' | 'ES256'
  /** Publishes keys other than those it signs with. */
  isForger?: boolean
}

export const OIDC_CLIENT = { clientId: 'svc', clientSecret: 'a secret of the client that is long enough' }

export async function oidcServer(options: OidcServerOptions): Promise<OidcServer> {
  const ca = createTestCa()
  const folder = mkdtempSync(join(tmpdir(), 'svc-oidc-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, ca.pem)
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createTlsServer(ca.issue({ names: ['127.0.0.1'] }), (request, response) =>
    answer(request, response),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const issuer = `https://127.0.0.1:${port}`
  const self: OidcServer = {
    issuer,
    env: {
      NODE_EXTRA_CA_CERTS: caFile,
      OIDC_PROVIDERS: JSON.stringify([{ id: 'one', displayName: 'One', issuer, ...OIDC_CLIENT }]),
    },
    person: null,
    visit: (url) => visit(url, issuer, ca.pem),
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
  answer = await providerApp(issuer, options, () => self.person)
  return self
}

async function providerApp(
  issuer: string,
  { redirectUris, emailInIdToken = true, signingAlg = 'RS256', isForger = false }: OidcServerOptions,
  person: () => OidcPerson | null,
) {
  const { Provider } = await import('oidc-provider')
  const keys = newKeys(signingAlg)
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.clientId,
        client_secret: OIDC_CLIENT.clientSecret,
        redirect_uris: [...redirectUris],
        id_token_signed_response_alg: signingAlg,
      },
    ],
    jwks: { keys: [{ ...keys.privateKey.export({ format: 'jwk' }), ...KEY_NOTES, alg: signingAlg }] },
    cookies: { keys: ['a key of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: !emailInIdToken,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_ctx: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ ...person(), sub: accountId }),
    }),
    async loadExistingGrant(ctx: GrantContext) {
      const { client, session, provider } = ctx.oidc
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const handle = provider.callback()
  const foreign = {
    ...newKeys(signingAlg).publicKey.export({ format: 'jwk' }),
    ...KEY_NOTES,
    alg: signingAlg,
  }
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (isForger && request.url === '/jwks') return void response.end(JSON.stringify({ keys: [foreign] }))
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response)
    const who = person()
    const result =
      who === null
        ? { error: 'access_denied', error_description: 'The person said no' }
        : { login: { accountId: who.sub, remember: false } }
    void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  }
}

const KEY_NOTES = { use: 'sig', kid: 'test' }

const newKeys = (alg: 'RS256' | 'ES256') =>
  alg === 'RS256'
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })

type GrantContext = {
  oidc: {
    client: { clientId: string }
    session: { accountId: string }
    provider: {
      Grant: new (init: object) => { addOIDCScope(scope: string): void; save(): Promise<string> }
    }
  }
}

async function visit(url: string, issuer: string, ca: string): Promise<string> {
  const jar = new Map<string, string>()
  let next = url
  for (let hop = 0; hop < 10; hop++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(next, { redirect: 'manual', headers: { cookie }, tls: { ca } })
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`The provider said ${answer.status}: ${await answer.text()}`)
    next = new URL(location, next).href
    if (!next.startsWith(`${issuer}/`)) return next
  }
  throw new Error('The provider redirected in a loop')
}
