import * as oauth from 'oauth4webapi'
import type { OidcProvider } from '../../config/config.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { isRecord } from '../../domain/is-record.ts'
import { isRecent } from '../../domain/recent.ts'
import { DiscoveryFailure, IssuerMismatch } from './failures.ts'

const DISCOVERY_MS = HOUR_MS

export type Discover = (provider: OidcProvider) => Promise<oauth.AuthorizationServer>

/** What the library sends requests with. */
export type Http = { [oauth.customFetch]: (url: string, options: HttpOptions) => Promise<Response> }
export type HttpOptions = { method: string; headers: Record<string, string>; body?: unknown }

/**
 * Fetches discovery documents once an hour; asks again after a failure. Rejects with `DiscoveryFailure` or
 * `IssuerMismatch`. OpenID Connect Discovery §4.
 */
export function cachedDiscovery(http: Http, now: () => number): Discover {
  const known = new Map<string, { at: number; as: oauth.AuthorizationServer }>()
  return async ({ id, issuer }) => {
    const found = known.get(id)
    if (found !== undefined && isRecent(found.at, now(), DISCOVERY_MS)) return found.as
    const as = await read(issuer, await request(new URL(issuer), http))
    known.set(id, { at: now(), as })
    return as
  }
}

async function request(issuer: URL, http: Http): Promise<Response> {
  try {
    return await oauth.discoveryRequest(issuer, http)
  } catch (cause) {
    throw new DiscoveryFailure('was not reached', { isPassing: true, cause })
  }
}

async function read(issuer: string, response: Response): Promise<oauth.AuthorizationServer> {
  const { status } = response
  if (status !== 200)
    throw new DiscoveryFailure(`answered with status ${status} in place of its discovery document`, {
      isPassing: status >= 500 || status === 429,
    })
  const document = await jsonOf(response)
  if (!isSameAddress(document['issuer'], issuer)) throw new IssuerMismatch(issuer, document['issuer'])
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'])
    if (!isHttps(document[name])) throw lasting(`has a discovery document whose ${name} is not HTTPS`)
  return document as oauth.AuthorizationServer
}

async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  const document: unknown = await response.json().catch(() => undefined)
  if (isRecord(document)) return document
  throw lasting('sent a discovery document that is not JSON')
}

const lasting = (message: string) => new DiscoveryFailure(message, { isPassing: false })

/** Browsers are never redirected to plain HTTP, where anybody in between could impersonate the provider. */
const isHttps = (address: unknown): boolean =>
  typeof address === 'string' && URL.parse(address)?.protocol === 'https:'

/** With or without the slash of an empty path. */
const isSameAddress = (found: unknown, expected: string): boolean =>
  typeof found === 'string' && URL.parse(found)?.href === new URL(expected).href
