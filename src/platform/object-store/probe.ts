import { createRequest, isDone } from './create.ts'
import { StoreError } from './error.ts'
import type { Answer, Exchange } from './exchange.ts'

/**
 * Creates a new key twice: 200, then 412, and the object is the first one. Throws `no_conditions` for anything else,
 * since then two machines could both believe that they wrote. The key is deleted. contract 18 §1.
 */
export async function probeConditions(exchange: Exchange, fullKey: string, writer: string): Promise<void> {
  const [first, second] = ['first', 'second'].map((text) =>
    createRequest({ fullKey, body: new TextEncoder().encode(text), writer, epoch: 0 }),
  )
  if (first === undefined || second === undefined) return
  try {
    const made = await exchange.send(first)
    if (!isDone(made)) throw notHonoured(exchange, made, 'for a new key')
    const again = await exchange.send(second)
    if (again.status !== 412) throw notHonoured(exchange, again, 'for a key that exists')
    const kept = await exchange.send({ op: 'get', method: 'GET', fullKey })
    if (new TextDecoder().decode(kept.bytes) !== 'first')
      throw notHonoured(exchange, kept, 'and lost the object')
  } finally {
    await exchange.send({ op: 'delete', method: 'DELETE', fullKey }).catch(() => {})
  }
}

function notHonoured(exchange: Exchange, answer: Answer, when: string): StoreError {
  const error = exchange.errorOf({ op: 'create' }, answer)
  if (answer.status >= 300 && (error.isSetting || error.isTransient)) return error
  return new StoreError(
    'no_conditions',
    `the object store does not honour If-None-Match: it answered ${answer.status} ${when}; svc needs a store that answers 200, then 412`,
    { code: error.code },
  )
}
