import type { Context } from '../context.ts'
import { shipped } from '../db/shipped.ts'
import { hasSessionCookie } from '../domain/cookies.ts'
import { AppError } from '../domain/errors.ts'
import type { HeaderPair } from '../domain/forward-headers.ts'
import { sentKey } from '../domain/key-header.ts'
import { foldedName } from '../domain/visitor-claims.ts'
import { errorResponse } from '../http/error-response.ts'
import { refuseCrossOrigin } from '../http/same-origin.ts'
import { MAX_MESSAGE_BYTES, type SocketOwner, type VisitorSocket } from '../http/wire.ts'
import type { Tunnel } from '../platform/http1/tunnel.ts'
import { OutboundError } from '../platform/outbound/error.ts'
import { randomBytes } from '../platform/random.ts'
import { type BackendSocket, openBackendSocket } from '../platform/websocket/client.ts'
import { planForward } from './plan-forward.ts'
import {
  failureResponse,
  LONG_SILENCE_MS,
  noTarget,
  relayedHeaders,
  relayOrRefuse,
  Silence,
} from './serve-proxy.ts'
import type { Site } from './site.ts'
import type { Backend } from './site-rules.ts'
import type { Visitor } from './visit.ts'

const WAITING_BYTES = 4 * MAX_MESSAGE_BYTES
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/**
 * Headers of the handshake, which each side creates itself; no other spelling of them passes. Compression is not
 * negotiated, because frames are decoded.
 */
const HANDSHAKE: ReadonlySet<string> = new Set([
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-version',
])

export const isWebSocket = (request: Request): boolean =>
  request.method === 'GET' && request.headers.get('upgrade')?.toLowerCase() === 'websocket'

/**
 * Opens a WebSocket to the backend, then the visitor's, and passes messages between them until one side ends. A
 * response other than 101 is relayed as in `serveProxy`. Never rejects.
 */
export async function serveWebSocket(
  ctx: Context,
  site: Site,
  rule: Backend,
  visitor: Visitor,
): Promise<Response> {
  const { request, peer } = visitor.arrival
  const { target } = rule
  if (target === null) return noTarget()
  if (peer.upgrade === undefined)
    return errorResponse(new AppError('not_implemented', 'This connection cannot be upgraded to a WebSocket'))
  const key = randomBytes(16).toString('base64')
  const handshake = untilUpgraded(request)
  try {
    refuseForgery(site, visitor)
    const plan = planForward(rule, target, visitor)
    const { url, target: path, headers } = plan
    // No gate holds back the answer, and a session may have been renewed.
    await shipped(ctx)
    const forwarding = { ctx, site, rule, plan, method: 'GET', silence: new Silence(undefined) }
    const answer = await ctx.outbound.upgrade(url, {
      headers: [...withoutHandshake(headers), ['sec-websocket-key', key], ['sec-websocket-version', '13']],
      target: path,
      headTimeoutMs: rule.record.timeoutMs,
      idleTimeoutMs: LONG_SILENCE_MS,
      signal: handshake.signal,
    })
    if (answer.tunnel === null) return relayOrRefuse(forwarding, answer)
    if (!accepts(answer.headers, key)) {
      answer.tunnel.close()
      throw new OutboundError(
        'broken',
        `${url.host} accepted the upgrade without a valid Sec-WebSocket-Accept`,
      )
    }
    const relayed = relayedHeaders(site, withoutHandshake(answer.headers))
    handshake.done()
    if (!peer.upgrade(relayed, bridge(answer.tunnel))) answer.tunnel.close()
    return new Response(null)
  } catch (error) {
    return failureResponse(ctx, rule, error)
  }
}

/** Bun aborts a request when its WebSocket ends; the backend must receive the close code before it is cut off. */
function untilUpgraded(request: Request): { signal: AbortSignal; done: () => void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  request.signal.addEventListener('abort', abort)
  return { signal: controller.signal, done: () => request.signal.removeEventListener('abort', abort) }
}

/**
 * A page of another site under the workspace domain also sends the session of this site's visitors. A WebSocket that
 * relies on a session must therefore be opened by a page of this site. contract §2.
 */
function refuseForgery({ visibility }: Site, { arrival: { request }, facts }: Visitor): void {
  if (visibility.isPublic || sentKey(request.headers) !== null) return
  if (hasSessionCookie(request.headers.get('cookie'))) refuseCrossOrigin(request, facts.hostWithPort, true)
}

/** Closes one side when the other ends. Messages sent before the sockets are joined are not lost. */
function bridge(tunnel: Tunnel): SocketOwner {
  let visitor: VisitorSocket | null = null
  let backend: BackendSocket | null = null
  let resume: (() => void) | null = null
  return {
    opened(socket) {
      visitor = socket
      backend = openBackendSocket(
        tunnel,
        {
          received(message) {
            if (visitor === null || visitor.send(message)) return undefined
            return new Promise((resolve) => {
              resume = resolve
            })
          },
          closed(code, reason) {
            const open = visitor
            visitor = null
            if (code === 1006) open?.cut()
            else open?.close(code === 1005 ? 1000 : code, reason)
          },
        },
        { messageBytes: MAX_MESSAGE_BYTES, maxWaiting: WAITING_BYTES },
      )
    },
    received: (message) => backend?.send(message),
    writable() {
      resume?.()
      resume = null
    },
    closed(code, reason) {
      const wasOpen = visitor !== null
      visitor = null
      resume?.()
      if (!wasOpen) return
      if (code === 1006) backend?.cut()
      else backend?.close(code, reason)
    },
  }
}

function accepts(headers: readonly HeaderPair[], key: string): boolean {
  const expected = new Bun.CryptoHasher('sha1').update(`${key}${MAGIC}`).digest('base64')
  return headers.some(([name, value]) => name === 'sec-websocket-accept' && value.trim() === expected)
}

const withoutHandshake = (headers: readonly HeaderPair[]): HeaderPair[] =>
  headers.filter(([name]) => !HANDSHAKE.has(foldedName(name)))
