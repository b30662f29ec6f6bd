import type { Socket } from 'bun'
import { OutboundError } from './error.ts'

/** What a socket tells its owner. `closed` comes last and once. */
export interface SocketOwner {
  received(bytes: Buffer): void
  writable(): void
  /** The other end will send no more. */
  ended(): void
  closed(error: Error | null): void
}

/** What hangs on a socket. `owner` is set by who gets it, before anything can arrive. */
type Line = { owner: SocketOwner | null; attempt: Attempt }
export type LineSocket = Socket<Line>

export type DialTarget = {
  /** An address, checked by the caller: no name is resolved here. */
  address: string
  port: number
  /** The name that the certificate must carry; null for plain TCP. */
  serverName: string | null
  /** PEM of all CAs that count; null for Bun's own. */
  ca: readonly string[] | null
  /** For messages, such as `api.example.com:443`. */
  label: string
}

/** `http/1.1` in the form of RFC 7301: no protocol that this client does not speak gets negotiated. */
const ALPN = '\x08http/1.1'

/**
 * Connects, and with TLS verifies chain, dates, purpose and name, before the caller gets the socket: nothing
 * can be sent on a connection that is not proven. Every connection makes its own full handshake, because Bun
 * resumes no session that is not handed to it. Rejects with `OutboundError` `refused`, `tls`, `reset`, or with
 * the reason of `gaveUp`. `released` is called once, when the system holds nothing of the attempt any more.
 *
 * What Bun 1.4.4 does here, found by running it: with `rejectUnauthorized` it checks the name too, reports a
 * failure to `handshake` as `success === false` and closes; `ca` replaces its own CAs; the promise of
 * `connect` resolves before the handshake; every failure to connect reads ECONNREFUSED; an attempt cannot be
 * called off before it is connected, so `released` may come long after `gaveUp`.
 */
export function dial(target: DialTarget, gaveUp: AbortSignal, released: () => void): Promise<LineSocket> {
  const attempt = new Attempt(target, gaveUp, released)
  Bun.connect<Line>({
    hostname: target.address,
    port: target.port,
    data: { owner: null, attempt },
    socket: target.serverName === null ? PLAIN : TLS,
    ...(target.serverName === null ? {} : { tls: tlsOptions(target, target.serverName) }),
  }).catch(() => attempt.closed(refused(target)))
  return attempt.promise
}

/** One way to a connection: settles once, whatever the socket reports and in whichever order. */
class Attempt {
  readonly promise: Promise<LineSocket>
  readonly target: DialTarget
  readonly #gaveUp: AbortSignal
  readonly #released: () => void
  #resolve: (socket: LineSocket) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #socket: LineSocket | null = null
  #isReleased = false

  constructor(target: DialTarget, gaveUp: AbortSignal, released: () => void) {
    this.target = target
    this.#gaveUp = gaveUp
    this.#released = released
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    gaveUp.addEventListener('abort', this.#abandon, { once: true })
  }

  opened(socket: LineSocket): void {
    this.#socket = socket
    if (this.#gaveUp.aborted) socket.terminate()
  }

  proven(socket: LineSocket): void {
    this.#gaveUp.removeEventListener('abort', this.#abandon)
    this.#resolve(socket)
  }

  failed(error: OutboundError): void {
    this.#gaveUp.removeEventListener('abort', this.#abandon)
    this.#reject(error)
    this.#socket?.terminate()
  }

  closed(error: OutboundError): void {
    this.failed(error)
    if (this.#isReleased) return
    this.#isReleased = true
    this.#released()
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
  data: (socket: LineSocket, bytes: Buffer) => socket.data.owner?.received(bytes),
  drain: (socket: LineSocket) => socket.data.owner?.writable(),
  end: (socket: LineSocket) => socket.data.owner?.ended(),
  close(socket: LineSocket, error?: Error) {
    const { owner, attempt } = socket.data
    attempt.closed(closedEarly(attempt.target))
    owner?.closed(error ?? null)
  },
  error: (socket: LineSocket) => void socket.terminate(),
  /** Without it Bun prints the error; `connect` rejects with the same. */
  connectError: () => {},
}

const PLAIN = {
  ...SHARED,
  open(socket: LineSocket) {
    socket.data.attempt.opened(socket)
    socket.data.attempt.proven(socket)
  },
}

const TLS = {
  ...SHARED,
  open: (socket: LineSocket) => socket.data.attempt.opened(socket),
  handshake(socket: LineSocket, success: boolean, error: Error | null) {
    const { attempt } = socket.data
    if (success && error === null && socket.authorized) attempt.proven(socket)
    else attempt.failed(isHangUp(error) ? closedEarly(attempt.target) : untrusted(attempt.target, error))
  },
}

const refused = ({ label }: DialTarget) =>
  new OutboundError(
    'refused',
    `Connection refused: ${label} does not accept connections, or no way leads there`,
  )

const closedEarly = ({ label, serverName }: DialTarget) =>
  serverName === null
    ? new OutboundError('reset', `${label} closed the connection at once`)
    : new OutboundError('tls', `${label} closed the connection during the TLS handshake`)

const isHangUp = (error: (Error & { code?: unknown }) | null): boolean => error?.code === 'ECONNRESET'

/** What the codes of OpenSSL say, in words. */
const REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
  INVALID_PURPOSE: 'it is not for servers',
  SELF_SIGNED_CERT_IN_CHAIN: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its CA is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its CA is not known here',
}

function untrusted(
  { label, serverName }: DialTarget,
  error: (Error & { code?: unknown }) | null,
): OutboundError {
  const code = typeof error?.code === 'string' ? error.code : ''
  if (code === '' || code === 'EPROTO' || code.startsWith('ERR_SSL'))
    return new OutboundError('tls', `${label} does not speak TLS as expected`, error)
  const reason = REASONS[code] ?? code
  return new OutboundError(
    'tls',
    `The certificate of ${label} does not prove ${serverName}: ${reason}`,
    error,
  )
}
