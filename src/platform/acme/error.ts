import { isRecord } from '../../domain/is-record.ts'

/** An error response of the authority, as a single line whatever it sent. RFC 8555 §6.7. */
export class AcmeError extends Error {
  /** `rateLimited`, `caa`, `dns`, `unauthorized` …: the problem type without its namespace; `''` if there is none. */
  readonly type: string
  readonly status: number
  /** How long the authority asks us to wait; null if it does not say. */
  readonly retryAfterMs: number | null

  constructor(message: string, about: { type?: string; status?: number; retryAfterMs?: number | null } = {}) {
    super(asLine(message))
    this.type = about.type ?? ''
    this.status = about.status ?? 0
    this.retryAfterMs = about.retryAfterMs ?? null
  }
}

/** Turns a problem document, which may come in a response, a challenge or an order, into an error. */
export function problemError(
  problem: unknown,
  about: { status: number; retryAfterMs: number | null },
): AcmeError {
  const { type, detail, subproblems } = fieldsOf(problem)
  const sentences = [
    detail,
    ...(Array.isArray(subproblems) ? subproblems.map((one) => fieldsOf(one)['detail']) : []),
  ]
  const said = sentences.filter((one) => typeof one === 'string' && one.trim() !== '').join(' ')
  const message =
    said === '' ? `The certificate authority answered ${about.status} without giving a reason` : said
  return new AcmeError(message, {
    ...about,
    type: typeof type === 'string' ? (type.split(':').at(-1) ?? '') : '',
  })
}

/** The fields of a JSON object; empty for anything else. */
export const fieldsOf = (json: unknown): Record<string, unknown> => (isRecord(json) ? json : {})

const MAX_LENGTH = 500

/** Makes a foreign text safe for a log and a page: one line of limited length. */
const asLine = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line
}
