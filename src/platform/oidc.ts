import * as oauth from 'oauth4webapi'
import type { OidcProvider } from '../config/config.ts'
import { normalEmail } from '../domain/email.ts'
import { cachedDiscovery, type Discover, type Http, type HttpOptions } from './oidc/discovery.ts'
import { OidcFailure, OidcRefusal } from './oidc/failures.ts'
import { readLimited } from './outbound/read.ts'
import type { Outbound, OutboundResponse } from './outbound.ts'

/** The URL to redirect the browser to, and the values to keep until it comes back. */
type OidcStart = { url: string; state: string; nonce: string; verifier: string }

/** The person who came back, according to the provider. `email` is null if it does not say. */
export type OidcIdentity = { subject: string; email: string | null; isEmailVerified: boolean }

export { OidcFailure, OidcRefusal } from './oidc/failures.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 1024 * 1024
/** OpenID Connect Core §2. */
const MAX_SUBJECT = 255

export type OidcClient = {
  /** `redirectUri`: the URL of the callback, as registered at the provider. Rejects with `OidcFailure`. */
  start(provider: OidcProvider, redirectUri: string): Promise<OidcStart>
  /**
   * `callback`: the URL that the browser came back to. Rejects with `OidcRefusal`, or with `OidcFailure` if anything
   * about the response is invalid.
   */
  finish(
    provider: OidcProvider,
    redirectUri: string,
    kept: Omit<OidcStart, 'url'>,
    callback: URL,
  ): Promise<OidcIdentity>
}

/** The OpenID Connect code flow with PKCE (S256), state and nonce. All requests go through `outbound`. */
export function createOidcClient(outbound: Outbound, now: () => number): OidcClient {
  const http = { [oauth.customFetch]: fetchBy(outbound) }
  const discover = cachedDiscovery(http, now)
  return {
    start: (provider, redirectUri) => begin(discover, provider, redirectUri).catch(failPlainly),
    finish: (...end) => complete(http, discover, ...end).catch(failPlainly),
  }
}

async function begin(discover: Discover, provider: OidcProvider, redirectUri: string): Promise<OidcStart> {
  const as = await discover(provider)
  const url = new URL(as.authorization_endpoint ?? '')
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const nonce = oauth.generateRandomNonce()
  const query = {
    client_id: provider.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: provider.scopes.join(' '),
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return { url: url.href, state, nonce, verifier }
}

async function complete(
  http: Http,
  discover: Discover,
  ...[provider, redirectUri, kept, callback]: Parameters<OidcClient['finish']>
): Promise<OidcIdentity> {
  const as = await discover(provider)
  const client: oauth.Client = { client_id: provider.clientId }
  const query = validateReturn(as, client, callback, kept.state)
  const answer = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    clientAuth(as, provider),
    query,
    redirectUri,
    kept.verifier,
    http,
  )
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, {
    expectedNonce: kept.nonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(as, answer, http)
  return identityOf(as, client, tokens, http, provider)
}

/**
 * Errors of the library carry tokens, codes and claims, at any length that the provider sends. None of that may reach a
 * log (contract §3). Their messages contain none of it.
 */
function failPlainly(error: unknown): never {
  if (error instanceof OidcRefusal || error instanceof OidcFailure) throw error
  const message = error instanceof Error ? error.message : 'The provider could not be asked'
  const code = error instanceof oauth.ResponseBodyError && ERROR_CODE.test(error.error) ? error.error : null
  throw new OidcFailure(code === null ? message : `${message}: ${code}`)
}

/** Such as `invalid_grant` for a used code and `invalid_client` for a wrong secret. RFC 6749 §5.2. */
const ERROR_CODE = /^[a-z_]{1,40}$/

function validateReturn(as: oauth.AuthorizationServer, client: oauth.Client, callback: URL, state: string) {
  try {
    return oauth.validateAuthResponse(as, client, callback, state)
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) throw new OidcRefusal(error.error)
    throw error
  }
}

/** Every provider must support Basic; the form is for those that list nothing else. OpenID Connect Discovery §3. */
function clientAuth(as: oauth.AuthorizationServer, { clientSecret }: OidcProvider): oauth.ClientAuth {
  const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return methods.includes('client_secret_basic')
    ? oauth.ClientSecretBasic(clientSecret)
    : oauth.ClientSecretPost(clientSecret)
}

/** From the ID token, and from the user info endpoint if the token has no email. */
async function identityOf(
  as: oauth.AuthorizationServer,
  client: oauth.Client,
  tokens: oauth.TokenEndpointResponse,
  http: Http,
  provider: OidcProvider,
): Promise<OidcIdentity> {
  const claims = oauth.getValidatedIdTokenClaims(tokens)
  if (claims === undefined) throw new Error('The provider sent no ID token')
  if (claims.sub.length === 0 || claims.sub.length > MAX_SUBJECT)
    throw new Error('The subject of the ID token is empty or too long')
  if (claims.azp !== undefined && claims.azp !== client.client_id)
    throw new Error('The ID token was made for another client')
  const hasEmail = typeof claims['email'] === 'string'
  if (hasEmail || as.userinfo_endpoint === undefined) return toIdentity(claims.sub, claims, provider)
  const answer = await oauth.userInfoRequest(as, client, tokens.access_token, http)
  return toIdentity(claims.sub, await oauth.processUserInfoResponse(as, client, claims.sub, answer), provider)
}

/** An invalid email becomes null. */
function toIdentity(
  subject: string,
  { email, email_verified }: Record<string, unknown>,
  { trustEmail = false }: OidcProvider,
): OidcIdentity {
  // Some providers send a text, and "false" is one too.
  const isVerified = email_verified === true || email_verified === 'true'
  return {
    subject,
    email: typeof email === 'string' ? normalEmail(email) : null,
    isEmailVerified: isVerified || (trustEmail && email_verified === undefined),
  }
}

function fetchBy(outbound: Outbound) {
  return async (url: string, options: HttpOptions): Promise<Response> => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await outbound.request(new URL(url), {
      method: options.method,
      headers: Object.entries(options.headers),
      body: asBytes(options.body),
      headTimeoutMs: TIMEOUT_MS,
      idleTimeoutMs: TIMEOUT_MS,
      signal: timeout,
    })
    return toResponse(answer)
  }
}

const asBytes = (body: unknown): Uint8Array | null =>
  body === undefined || body === null ? null : new TextEncoder().encode(String(body))

async function toResponse(answer: OutboundResponse): Promise<Response> {
  const body = await readLimited(answer, MAX_BYTES)
  const headers = new Headers(answer.headers.map(([name, value]): [string, string] => [name, value]))
  const isEmpty = answer.status === 204 || answer.status === 304
  return new Response(isEmpty ? null : body.slice(), { status: answer.status, headers })
}
