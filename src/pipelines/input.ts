import type { AppError } from '../domain/errors.ts'
import { isRecord } from '../domain/is-record.ts'
import type { Arrival } from '../http/arrival.ts'
import { CHARSET_FIELD } from './form-charset.ts'
import type { ServeFile } from './serve-file.ts'
import type { UploadedFile } from './uploaded-file.ts'

/** The parsed body of a request. `form` values are texts, or lists of texts for a name that came more than once. */
export type PipelineBody =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  | { kind: 'form'; value: Record<string, unknown> }
  | { kind: 'text'; value: string }
  /** A content type that is not parsed. */
  | { kind: 'unsupported'; contentType: string }
  /** The content does not match its declared type. */
  | { kind: 'broken'; error: AppError }

/** The schedule of a run, and when it fired it. contract 14.1. */
export type PipelineSchedule = { id: string; name: string; firedAt: string }

export type PipelineUser = { id: string; email: string; role: string }

/** The input of a run. All of it is JSON, so that it can be stored for later. */
export type PipelineInput = {
  method: string
  /** As requested, below the site. */
  path: string
  query: Record<string, unknown>
  /** Why the query is no form, if it is none. Not stored. */
  queryError?: AppError
  /** What each `*` of the pattern matched, from 0. */
  params: Record<string, string>
  /** Header names in lower case; without the session cookies and `x-api-key`. */
  headers: Record<string, string>
  ip: string
  userAgent: string | null
  body: PipelineBody
  /** The text of the body, for verifying signatures. Not stored, so post steps do not have it. */
  rawBody?: () => string
  /** What is answered; without it nobody waits. Not stored. */
  arrival?: Arrival
  /** Scheme and host of what was answered, for post steps, which have no `arrival`. */
  origin?: string
  /** The file of the form, if a step takes one. Not stored. */
  file?: UploadedFile
  /** Answers with a file. Not stored. */
  serveFile?: ServeFile
  user: PipelineUser | null
  /** Null for every visitor. */
  schedule?: PipelineSchedule
  project: Record<string, unknown>
  deployment: { owner: string; repo: string; commitSha: string; alias: string | null }
}

/** The value of `request.body`. Throws for a body that does not match its declared type. */
function bodyValue(body: PipelineBody): unknown {
  switch (body.kind) {
    case 'none':
    case 'unsupported':
      return null
    case 'broken':
      throw body.error
    default:
      return body.value
  }
}

/** `request` as expressions and functions see it. Body and headers are evaluated lazily. */
export function requestView(input: PipelineInput): Record<string, unknown> {
  const { method, path, query, params, ip, userAgent, schedule = null } = input
  const view = {
    method,
    path,
    query,
    params,
    get headers() {
      return input.headers
    },
    ip,
    userAgent,
    schedule,
    get body() {
      return bodyValue(input.body)
    },
  }
  // Not enumerable, so that code which gets the whole request does not get the body twice.
  return Object.defineProperty(view, 'rawBody', { get: () => input.rawBody?.() ?? null })
}

/** `input.<field>`: fields of the body take precedence over those of the query. */
export function inputView({ query, body }: PipelineInput): Record<string, unknown> {
  const value = bodyValue(body)
  const all = isRecord(value) ? { ...query, ...value } : query
  return withoutCharset(all)
}

/** The field says how the others are encoded, and is none of them. contract 12.12. */
export function withoutCharset(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(fields, CHARSET_FIELD)) return fields
  const { [CHARSET_FIELD]: _, ...others } = fields
  return others
}
