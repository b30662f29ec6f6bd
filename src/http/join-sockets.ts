import { AppError } from '../domain/errors.ts'
import type { HeaderPair } from '../domain/forward-headers.ts'
import { foldedName } from '../domain/visitor-claims.ts'
import type { Answer } from '../platform/http1/connection.ts'
import type { Tunnel } from '../platform/http1/tunnel.ts'
import { OutboundError } from '../platform/outbound/error.ts'
import type { Outbound, UpgradeRequest } from '../platform/outbound.ts'
import { randomBytes } from '../platform/random.ts'
import { type BackendSocket, openBackendSocket } from '../platform/websocket/client.ts'
import type { Arrival } from './arrival.ts'
import { MAX_MESSAGE_BYTES, type SocketOwner, type VisitorSocket } from './wire.ts'

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

type Joining = Omit<UpgradeRequest, 'signal' | 'headers'> & {
  headers: readonly HeaderPair[]
  /** The backend's headers for the visitor. */
  relayed: (headers: readonly HeaderPair[]) => Headers
}

/**
 * Opens a WebSocket to the backend, then the visitor's, and passes messages between them until one side ends: null then.
 * Returns any answer that is no 101. Throws `AppError` and `OutboundError`.
 */
export async function joinSockets(
  { request, peer }: Arrival,
  outbound: Outbound,
  url: URL,
  { relayed, headers, ...options }: Joining,
): Promise<Answer | null> {
  if (peer.upgrade === undefined)
    throw new AppError('not_implemented', 'This connection cannot be upgraded to a WebSocket')
  const key = randomBytes(16).toString('base64')
  const handshake = untilUpgraded(request)
  const answer = await outbound.upgrade(url, {
    ...options,
    headers: [...withoutHandshake(headers), ['sec-websocket-key', key], ['sec-websocket-version', '13']],
    signal: handshake.signal,
  })
  const { tunnel } = answer
  if (tunnel === null) return answer
  if (!accepts(answer.headers, key)) {
    tunnel.close()
    throw new OutboundError('broken', `${url.host} accepted the upgrade without a valid Sec-WebSocket-Accept`)
  }
  handshake.done()
  if (!peer.upgrade(relayed(withoutHandshake(answer.headers)), bridge(tunnel))) tunnel.close()
  return null
}

/** Bun aborts a request when its WebSocket ends; the backend must receive the close code before it is cut off. */
function untilUpgraded(request: Request): { signal: AbortSignal; done: () => void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (request.signal.aborted) abort()
  request.signal.addEventListener('abort', abort)
  return { signal: controller.signal, done: () => request.signal.removeEventListener('abort', abort) }
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
