import type { Context } from '../context.ts'
import { isIpLiteral, normalizeHost, siteLabelOf } from '../domain/hostname.ts'
import { isLoopback } from '../domain/ip-ranges.ts'
import { Arrival, type Peer } from '../http/arrival.ts'
import { coversHost } from '../platform/certificates.ts'
import { resolveHost } from '../site/resolve-site.ts'
import { serveMapped } from '../site/serve-mapped.ts'
import type { Site } from '../site/site.ts'
import type { App } from './app.ts'
import { logRequest } from './observe.ts'

const ACME_PATH = '/.well-known/acme-challenge/'
const ACME_TOKEN = /^[\w-]{1,256}$/
const HEALTH_PATH = '/api/health'
const RETRY_SECONDS = 10

type PlainDoor = (request: Request, peer: Peer) => Promise<Response>
type Dependencies = { ctx: Context; app: App; isTlsOpen: () => boolean }

/**
 * Serves plain HTTP beside a TLS listener: proofs that a host is ours, health checks from this machine, and redirects
 * to https. Serves no content, cookies or API, and reads no body. contract §10.
 */
export function createPlainDoor(current: () => Context, app: App, isTlsOpen: () => boolean): PlainDoor {
  return async (request, peer) => {
    const ctx = current()
    const startedAt = performance.now()
    const arrival = new Arrival(ctx.config, request, peer)
    const answer = await route({ ctx, app, isTlsOpen }, arrival)
    // Closing the connection discards an unread body.
    answer.headers.set('connection', 'close')
    if (ctx.log.isInfo) logRequest(ctx, arrival, answer, { startedAt, address: peer.address })
    return answer
  }
}

async function route({ ctx, app, isTlsOpen }: Dependencies, arrival: Arrival): Promise<Response> {
  const { request, peer, path } = arrival
  const host = normalizeHost(request.headers.get('host'))
  if (host === null || !isPrintable(arrival.target) || request.method === 'CONNECT')
    return text(400, 'This request has no valid Host header or path.\n')
  if (path === HEALTH_PATH && isRead(request) && isThisMachine(ctx, peer))
    return health(app, request.method, peer)
  if (path.startsWith(ACME_PATH) && isRead(request)) {
    const answer = await challengeAnswer(ctx, host, path.slice(ACME_PATH.length))
    if (answer !== undefined) return text(200, answer)
  }
  const place = resolveHost(ctx, host)
  if (place === undefined && !mayBeHidden(ctx, host)) return text(404, 'No site lives here.\n')
  if (place?.kind === 'unproven') return serveMapped(place, arrival)
  const isServed = isTlsOpen() && hasCertificate(ctx, host)
  if (!isServed && place?.kind === 'site' && isAliasHost(ctx, place)) ctx.certificates.visited(host)
  return isServed ? toHttps(ctx, host, arrival) : notYet()
}

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

/** If the listener is bound to one address, this machine calls it from the same address. */
const isThisMachine = (ctx: Context, { address }: Peer): boolean =>
  isLoopback(address) || address === ctx.config.host

/** Passes on none of the caller's headers, so that no cookie is set. */
const health = (app: App, method: string, peer: Peer) =>
  app.fetch(new Request(`http://localhost${HEALTH_PATH}`, { method, headers: { host: 'localhost' } }), peer)

const challengeAnswer = (ctx: Context, host: string, token: string) =>
  ACME_TOKEN.test(token) ? ctx.certificates.challengeAnswer(host, token) : undefined

/**
 * With files the operator chose the names. `localhost` and IP addresses, which have no certificate, are the admin as
 * seen from nearby.
 */
const hasCertificate = (ctx: Context, host: string): boolean =>
  ctx.config.tls === 'files' ||
  host === 'localhost' ||
  isIpLiteral(host) ||
  ctx.certificates.all().some(({ hosts }) => coversHost(hosts, host))

/**
 * Hosts that no site uses must get the same response as private sites, so that visitors cannot find out which exist.
 */
const mayBeHidden = (ctx: Context, host: string): boolean => siteLabelOf(host, ctx.config.baseDomain) !== null

const isAliasHost = (ctx: Context, site: Site): boolean =>
  site.alias !== null && site.host.endsWith(`.${ctx.config.baseDomain}`)

/** Redirects to https. An IP address may be anybody's, so the redirect names the admin instead, except for loopback. */
function toHttps(ctx: Context, host: string, { target }: Arrival): Response {
  const origin = isIpLiteral(host) && !isLoopback(host) ? ctx.adminUrl() : ctx.siteUrl(host)
  const location = `${origin}${target}`
  return new Response(null, { status: 308, headers: { location, 'cache-control': 'public, max-age=300' } })
}

function notYet(): Response {
  const answer = text(
    503,
    'There is no certificate for this address yet. One has been requested: try again in a moment. ' +
      'If it takes longer, the server log says why.\n',
  )
  answer.headers.set('retry-after', String(RETRY_SECONDS))
  answer.headers.set('refresh', String(RETRY_SECONDS))
  return answer
}

const text = (status: number, body: string) =>
  new Response(body, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })

/** Whether a path with its query is printable ASCII. */
const isPrintable = (target: string): boolean => /^\/[\x21-\x7e]*$/.test(target)
