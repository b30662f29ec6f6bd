import { AppError, type ErrorKind } from '../../domain/errors.ts'

/** Which end failed, and how. `toAppError` gives each its status. */
export type OutboundErrorKind =
  /** The caller handed over something that must not be sent. */
  | 'bad_request'
  | 'dns'
  /** The name or address leads where nobody may go. */
  | 'blocked'
  /** Refused, or no way there: Bun's sockets do not tell the two apart. */
  | 'refused'
  | 'tls'
  /** Nothing came in time, before the head of the answer. */
  | 'timeout'
  /** Nothing came in time, in the midst of a body. */
  | 'stalled'
  /** The connection ended too early. */
  | 'reset'
  /** What came is not HTTP/1.1, or goes over a limit. */
  | 'broken'
  /** Too many requests for this backend are under way. */
  | 'overloaded'
  /** The caller gave up: its signal, its request body or a cancelled response body. */
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
  overloaded: 'unavailable',
  aborted: 'bad_gateway',
}

/** A request that brought no whole answer. `message` is a sentence for a person and names the backend. */
export class OutboundError extends Error {
  readonly kind: OutboundErrorKind

  constructor(kind: OutboundErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

/** What the visitor is told: 502, 504 over the time, 503 when the backend has too much to do. contract §8. */
export function toAppError(error: OutboundError): AppError {
  return new AppError(STATUS_OF[error.kind], error.message, { cause: error })
}
