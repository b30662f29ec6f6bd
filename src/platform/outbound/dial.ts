import type { Socket } from 'bun'
import { OutboundError } from './error.ts'

/** Events of a socket. `onClosed` comes last and once. */
export interface SocketOwner {
  onBytes(bytes: Buffer): void
  onWritable(): void
  /** The other end will send no more. */
  onEnd(): void
  onClosed(error: Error | null): void
}

/** The data of a socket. Its user sets `owner` before any bytes can arrive. */
type Line = { owner: SocketOwner | null; attempt: Attempt }
export type LineSocket = Socket<Line>

export type DialTarget = {
  /** An address that the caller has checked: no name is resolved here. */
  address: string
  port: number
  /** The name that the certificate must match; null for plain TCP. */
  serverName: string | null
  /** PEM of all trusted CAs; null for Bun's own. */
  ca: readonly string[] | null
  /** For messages, such as `api.example.com:443`. */
  label: string
}

/** `http/1.1` in the format of RFC 7301, so that no protocol that this client does not speak is negotiated. */
const ALPN = '\x08http/1.1'

/**
 * Connects and, with TLS, verifies chain, dates, purpose and name before the caller gets the socket, so nothing can be
 * sent on an unverified connection. Every connection makes its own full handshake, because Bun resumes no session
 * unless it is given one. Rejects with `OutboundError` `refused`, `tls`, `reset`, or with the reason of `gaveUp`.
 * `onReleased` is called once, when the system holds nothing of the attempt any more.
 *
 * Behaviour of Bun 1.4.4, found by running it: `rejectUnauthorized` also checks the name, reports a failure to
 * `handshake` as `success === false` and closes; `ca` replaces its own CAs; the promise of `connect` resolves before
 * the handshake; every failure to connect reads ECONNREFUSED; an attempt cannot be cancelled before it has connected,
 * so `onReleased` may come long after `gaveUp`.
 */
export function dial(target: DialTarget, gaveUp: AbortSignal, onReleased: () => void): Promise<LineSocket> {
  const attempt = new Attempt(target, gaveUp, onReleased)
  Bun.connect<Line>({
    hostname: target.address,
    port: target.port,
    data: { owner: null, attempt },
    socket: target.serverName === null ? PLAIN : TLS,
    ...(target.serverName === null ? {} : { tls: tlsOptions(target, target.serverName) }),
  }).catch(() => attempt.onClosed(refused(target)))
  return attempt.promise
}

/** One attempt to connect: settles once, whatever events the socket reports in whatever order. */
class Attempt {
  readonly promise: Promise<LineSocket>
  readonly target: DialTarget
  readonly #gaveUp: AbortSignal
  readonly #onReleased: () => void
  #resolve: (socket: LineSocket) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #socket: LineSocket | null = null
  #isReleased = false

  constructor(target: DialTarget, gaveUp: AbortSignal, onReleased: () => void) {
    this.target = target
    this.#gaveUp = gaveUp
    this.#onReleased = onReleased
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    gaveUp.addEventListener('abort', this.#abandon, { once: true })
  }

  onOpened(socket: LineSocket): void {
    this.#socket = socket
    if (this.#gaveUp.aborted) socket.terminate()
  }

  onVerified(socket: LineSocket): void {
    this.#gaveUp.removeEventListener('abort', this.#abandon)
    this.#resolve(socket)
  }

  onFailed(error: OutboundError): void {
    this.#gaveUp.removeEventListener('abort', this.#abandon)
    this.#reject(error)
    this.#socket?.terminate()
  }

  onClosed(error: OutboundError): void {
    this.onFailed(error)
    if (this.#isReleased) return
    this.#isReleased = true
    this.#onReleased()
  }

  readonly #abandon = (): void => {
    this.#reject(this.#gaveUp.reason)
    this.#socket?.terminate()
  }
}

const tlsOptions = ({ ca }: DialTarget, serverName: string) => ({
  serverName,
  rejectUnauthorized: true,
  ALPNProtocols: ALPN,
  ...(ca === null ? {} : { ca: [...ca] }),
})

const SHARED = {
  data: (socket: LineSocket, bytes: Buffer) => socket.data.owner?.onBytes(bytes),
  drain: (socket: LineSocket) => socket.data.owner?.onWritable(),
  end: (socket: LineSocket) => socket.data.owner?.onEnd(),
  close(socket: LineSocket, error?: Error) {
    const { owner, attempt } = socket.data
    attempt.onClosed(closedEarly(attempt.target))
    owner?.onClosed(error ?? null)
  },
  error: (socket: LineSocket) => void socket.terminate(),
  /** Without this handler Bun prints the error; `connect` rejects with the same error. */
  connectError: () => {},
}

const PLAIN = {
  ...SHARED,
  open(socket: LineSocket) {
    socket.data.attempt.onOpened(socket)
    socket.data.attempt.onVerified(socket)
  },
}

const TLS = {
  ...SHARED,
  open: (socket: LineSocket) => socket.data.attempt.onOpened(socket),
  handshake(socket: LineSocket, success: boolean, error: Error | null) {
    const { attempt } = socket.data
    if (success && error === null && socket.authorized) attempt.onVerified(socket)
    else attempt.onFailed(isHangUp(error) ? closedEarly(attempt.target) : untrusted(attempt.target, error))
  },
}

const refused = ({ label }: DialTarget) =>
  new OutboundError(
    'refused',
    `Connection refused: ${label} does not accept connections, or there is no route to it`,
  )

const closedEarly = ({ label, serverName }: DialTarget) =>
  serverName === null
    ? new OutboundError('reset', `${label} closed the connection at once`)
    : new OutboundError('tls', `${label} closed the connection during the TLS handshake`)

const isHangUp = (error: (Error & { code?: unknown }) | null): boolean => error?.code === 'ECONNRESET'

/** Plain words for the codes of OpenSSL. */
const REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
  INVALID_PURPOSE: 'it is not for servers',
  SELF_SIGNED_CERT_IN_CHAIN: 'its CA is unknown here',
  UNABLE_TO_GET_ISSUER_CERT: 'its CA is unknown here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its CA is unknown here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its CA is unknown here',
}

function untrusted({ label }: DialTarget, error: (Error & { code?: unknown }) | null): OutboundError {
  const code = typeof error?.code === 'string' ? error.code : ''
  if (code === '' || code === 'EPROTO' || code.startsWith('ERR_SSL'))
    return new OutboundError('tls', `${label} does not speak TLS as expected`, error)
  const reason = REASONS[code] ?? code
  return new OutboundError('tls', `The certificate of ${label} is not accepted: ${reason}`, error)
}
