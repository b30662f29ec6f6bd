import { AppError, type ErrorKind } from '../../domain/errors.ts'

/** Which end failed, and how. `toAppError` maps each kind to a status. */
export type OutboundErrorKind =
  /** The caller passed something that must not be sent. */
  | 'bad_request'
  | 'dns'
  /** The name or address leads to a forbidden place. */
  | 'blocked'
  /** Refused or unreachable: Bun's sockets do not distinguish them. */
  | 'refused'
  | 'tls'
  /** The head of the response did not come in time. */
  | 'timeout'
  /** The body stalled. */
  | 'stalled'
  /** The connection ended too early. */
  | 'reset'
  /** The response is not valid HTTP/1.1, or exceeds a limit. */
  | 'broken'
  /** The body of the response is longer than the caller takes. */
  | 'too_large'
  /** Too many requests for this backend are in progress. */
  | 'overloaded'
  /** The caller aborted: by its signal, its request body or a cancelled response body. */
  | 'aborted'

const STATUS_OF: Record<OutboundErrorKind, ErrorKind> = {
  bad_request: 'invalid',
  dns: 'bad_gateway',
  blocked: 'bad_gateway',
  refused: 'bad_gateway',
  tls: 'bad_gateway',
  timeout: 'gateway_timeout',
  stalled: 'gateway_timeout',
  reset: 'bad_gateway',
  broken: 'bad_gateway',
  too_large: 'bad_gateway',
  overloaded: 'unavailable',
  aborted: 'bad_gateway',
}

/** A request without a complete response. `message` is a readable sentence that names the backend. */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind

  constructor(kind: OutboundErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/**
 * The error for the visitor: 502; 504 for a timeout; 503 if the backend is overloaded. The message says what failed but
 * not where the backend is, which is for the log. contract §8.
 */
export function toAppError(error: OutboundError, target: URL): AppError {
  return new AppError(STATUS_OF[error.kind], withoutAddress(error, target), { cause: error })
}

function withoutAddress({ kind, message }: OutboundError, { hostname, port }: URL): string {
  if (kind === 'dns') return 'The backend cannot be reached: its name does not resolve'
  if (kind === 'blocked') return 'The backend cannot be reached: its address is not allowed'
  const text = message.replaceAll(`${hostname}:${port || 443}`, 'the backend')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
