import { isRecord } from '../../domain/is-record.ts'

/** What the authority answered instead of doing what it was asked: in one line, whatever it sent. RFC 8555 §6.7. */
export class AcmeError extends Error {
  /** `rateLimited`, `caa`, `dns`, `unauthorized` …: the problem's type without its namespace; `''` when there is none. */
  readonly type: string
  readonly status: number
  /** So long it asks to be left alone; null when it does not say. */
  readonly retryAfterMs: number | null

  constructor(message: string, about: { type?: string; status?: number; retryAfterMs?: number | null } = {}) {
    super(asLine(message))
    this.type = about.type ?? ''
    this.status = about.status ?? 0
    this.retryAfterMs = about.retryAfterMs ?? null
  }
}

/** The document of a problem, which may stand in an answer, a challenge or an order, as an error. */
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
  const message = said === '' ? `The certificate authority answered ${about.status} without a reason` : said
  return new AcmeError(message, {
    ...about,
    type: typeof type === 'string' ? (type.split(':').at(-1) ?? '') : '',
  })
}

/** The fields of a JSON object; none of anything else. */
export const fieldsOf = (json: unknown): Record<string, unknown> => (isRecord(json) ? json : {})

const MOST_LENGTH = 500

/** A text of somebody else, for a log and a page: one line, not too long. */
const asLine = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return line.length > MOST_LENGTH ? `${line.slice(0, MOST_LENGTH)}…` : line
}
