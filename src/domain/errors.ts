import type { ErrorCode } from './error-codes.ts'

/** The kinds of failure, each with its status and reason phrase. This table is the whole contract. */
const TABLE = {
  invalid: [400, 'Bad Request'],
  unauthenticated: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  not_found: [404, 'Not Found'],
  method_not_allowed: [405, 'Method Not Allowed'],
  timed_out: [408, 'Request Timeout'],
  conflict: [409, 'Conflict'],
  gone: [410, 'Gone'],
  length_required: [411, 'Length Required'],
  precondition_failed: [412, 'Precondition Failed'],
  too_large: [413, 'Payload Too Large'],
  unsupported_media_type: [415, 'Unsupported Media Type'],
  range_not_satisfiable: [416, 'Range Not Satisfiable'],
  misdirected: [421, 'Misdirected Request'],
  rate_limited: [429, 'Too Many Requests'],
  internal: [500, 'Internal Server Error'],
  not_implemented: [501, 'Not Implemented'],
  bad_gateway: [502, 'Bad Gateway'],
  unavailable: [503, 'Service Unavailable'],
  gateway_timeout: [504, 'Gateway Timeout'],
  storage_full: [507, 'Insufficient Storage'],
} as const

export type ErrorKind = keyof typeof TABLE

/** A named code, or the reason phrase. */
type Code = ErrorCode | (typeof TABLE)[ErrorKind][1]

/** One problem with the input: `path` names the field (`files[3].path`), `message` says what to do. */
export type ErrorDetail = { path: string; message: string } & Partial<Record<DetailNumber, number>>

/** What a limit is about: of a quota, and of the free disk. contract 16 §3. */
export const DETAIL_NUMBERS = ['limit', 'used', 'needed', 'free', 'floor'] as const
type DetailNumber = (typeof DETAIL_NUMBERS)[number]

type ErrorOptions = {
  /** A named code such as `WRONG_CREDENTIALS_ERROR`; defaults to the reason phrase. */
  code?: Code
  details?: readonly ErrorDetail[]
  /** Response headers that belong to the error (`Allow`, `Retry-After`). */
  headers?: Readonly<Record<string, string>>
  /** Logged once, where the request is answered; never sent to the client. */
  cause?: unknown
}

/** A failure that a caller may see. `message` is a sentence for a person and says what to do. */
export class AppError extends Error {
  readonly kind: ErrorKind
  readonly code: Code
  readonly details: readonly ErrorDetail[] | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(kind: ErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.kind = kind
    this.code = options.code ?? TABLE[kind][1]
    this.details = options.details
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return TABLE[this.kind][0]
  }

  /** The JSON body of every error response. spec: Errors. */
  toBody(): { statusCode: number; message: string; error: string; details?: readonly ErrorDetail[] } {
    const body = { statusCode: this.status, message: this.message, error: this.code }
    return this.details === undefined ? body : { ...body, details: this.details }
  }
}

/** One invalid field. `message` says what it must be; the field's name is put in front of it. */
export const invalidField = (path: string, message: string): AppError =>
  new AppError('invalid', `${path}: ${message}`, { details: [{ path, message }] })

/** The same, for a sentence that needs no field name in front of it. */
export const invalidChoice = (path: string, message: string): AppError =>
  new AppError('invalid', message, { details: [{ path, message }] })

/** The message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
