import type { AppError } from '../domain/errors.ts'
import { isRecord } from '../domain/is-record.ts'

/** A request's body, read. `form` values are texts, or lists of them where a name came more than once. */
export type PipelineBody =
  | { kind: 'none' }
  | { kind: 'json'; value: unknown }
  | { kind: 'form'; value: Record<string, unknown> }
  | { kind: 'text'; value: string }
  /** Of a type that is not read. */
  | { kind: 'unsupported'; contentType: string }
  /** It says what it is and is not so. */
  | { kind: 'broken'; error: AppError }

export type PipelineUser = { id: string; email: string; role: string }

/** What a run is given; all of it JSON, so that it can be kept for later. */
export type PipelineInput = {
  method: string
  /** As it was asked for, below the site. */
  path: string
  query: Record<string, unknown>
  /** What each `*` of the pattern stood for, from 0. */
  params: Record<string, string>
  /** Names in lower case; without the session's cookies and `x-api-key`. */
  headers: Record<string, string>
  ip: string
  userAgent: string | null
  body: PipelineBody
  /** The text that the body was read from, for signatures of it. Not kept for later: post steps do not have it. */
  rawBody?: () => string
  user: PipelineUser | null
  project: Record<string, unknown>
  deployment: { owner: string; repo: string; commitSha: string; alias: string | null }
}

/** The value of `request.body`. Throws for a body that is not what it says. */
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

/** `request` as expressions and functions see it. Body and headers are looked at only when they are asked for. */
export function requestView(input: PipelineInput): Record<string, unknown> {
  const { method, path, query, params, ip, userAgent } = input
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
    get body() {
      return bodyValue(input.body)
    },
  }
  // Whoever wants it names it: with the whole request, the body would be sent twice.
  return Object.defineProperty(view, 'rawBody', { get: () => input.rawBody?.() ?? null })
}

/** `input.<field>`: the body's fields over the query's. */
export function inputView({ query, body }: PipelineInput): Record<string, unknown> {
  const value = bodyValue(body)
  return isRecord(value) ? { ...query, ...value } : query
}
