import { isRecord } from '../../domain/is-record.ts'
import type { SiteAnswer } from '../runner.ts'

const MAX_BYTES = 10 * 2 ** 20

/** What a rule answered, read whole. `value`: the JSON, or the text where it is none. */
export type ReadAnswer = {
  isGood: boolean
  status: number
  type: string | null
  text: string
  value: unknown
}

export async function readAnswer(answer: SiteAnswer): Promise<ReadAnswer> {
  if ('unanswered' in answer) return failure(404, answer.unanswered)
  const { response } = answer
  const text = await textWithin(response)
  if (text === null) return failure(502, `The rule answered more than ${MAX_BYTES} bytes`)
  const type = response.headers.get('content-type')
  return { isGood: response.ok, status: response.status, type, text, value: parsed(type, text) }
}

/** `<error>: <message>`, as far as the answer says that. */
export function failureOf({ status, text, value }: ReadAnswer): string {
  const { error, message } = isRecord(value) ? value : {}
  const said = [error, message].filter((one) => typeof one === 'string' && one !== '')
  return said.length > 0 ? said.join(': ') : `The rule answered ${status}: ${text.slice(0, 1000)}`
}

const failure = (status: number, text: string): ReadAnswer => ({
  isGood: false,
  status,
  type: null,
  text,
  value: { message: text },
})

function parsed(type: string | null, text: string): unknown {
  if (type === null || !/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Null if it is longer than a tool may answer. */
async function textWithin({ body }: Response): Promise<string | null> {
  if (body === null) return ''
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > MAX_BYTES) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}
