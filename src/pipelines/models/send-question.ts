import { isRecord } from '../../domain/is-record.ts'
import { readLimited } from '../../platform/outbound/read.ts'
import type { OutboundResponse } from '../../platform/outbound.ts'
import { textAt } from './fields.ts'
import type { Talk } from './talk.ts'

const MAX_FAILURE_BYTES = 64 * 1024

/** Sends the question. Throws unless the answer is 2xx. */
export async function sendQuestion(talk: Talk, isStream: boolean): Promise<OutboundResponse> {
  const { step, provider, question, base, key, timeoutMs, signal } = talk
  const { path, headers, body } = provider.request(question, { base, key, isStream })
  const response = await step.ctx.outbound.request(new URL(`${base.href.replace(/\/$/, '')}${path}`), {
    method: 'POST',
    headers: Object.entries({
      ...headers,
      'content-type': 'application/json',
      accept: isStream ? 'text/event-stream' : 'application/json',
    }),
    body: new TextEncoder().encode(JSON.stringify(body)),
    headTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
    signal,
  })
  if (response.status < 200 || response.status > 299)
    throw talk.refused(response.status, await problemOf(response))
  talk.heard()
  return response
}

/** What the provider says of its refusal: the words of its error, or its text. */
async function problemOf(response: OutboundResponse): Promise<string> {
  const text = new TextDecoder().decode(await readLimited(response, MAX_FAILURE_BYTES).catch(() => undefined))
  try {
    const { error } = JSON.parse(text)
    return textAt(error, 'message') ?? (isRecord(error) ? '' : String(error ?? ''))
  } catch {
    return text
  }
}
