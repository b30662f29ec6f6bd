import { createRequest, isDone } from './create.ts'
import { StoreError } from './error.ts'
import type { Answer, Exchange } from './exchange.ts'
import { sha256 } from './sign.ts'

/**
 * Creates a new key twice: 200, then 412, and the object is the first one. Throws `no_conditions` for anything else,
 * since then two machines could both believe that they wrote. The key is deleted. contract 18 §1.
 */
export async function probeConditions(
  exchange: Exchange,
  fullKey: string,
  writer: string,
  deadline: number,
): Promise<void> {
  const creation = (text: string) => {
    const body = new TextEncoder().encode(text)
    return createRequest({ fullKey, body, sha256: sha256(body), writer, epoch: 0, deadline })
  }
  try {
    const made = await exchange.send(creation('first'))
    if (!isDone(made)) throw refusalOfNew(exchange, made)
    const again = await exchange.send(creation('second'))
    if (again.status !== 412) throw notHonoured(again, 'for a key that exists')
    const kept = await exchange.send({ op: 'get', method: 'GET', fullKey, deadline })
    if (kept.status >= 300) throw exchange.errorOf({ op: 'get' }, kept)
    if (new TextDecoder().decode(kept.bytes) !== 'first') throw notHonoured(again, 'and overwrote the object')
  } finally {
    await exchange.send({ op: 'delete', method: 'DELETE', fullKey }).catch(() => {})
  }
}

/** Of a wrong key, no bucket or a store that is away the condition is not the fault. */
function refusalOfNew(exchange: Exchange, answer: Answer): StoreError {
  const error = exchange.errorOf({ op: 'create' }, answer)
  return answer.status >= 300 && (error.isSetting || error.isTransient)
    ? error
    : notHonoured(answer, 'for a new key')
}

/** That the store took the first object shows that it is there, and that the key may write. */
const notHonoured = ({ status }: Answer, when: string): StoreError =>
  new StoreError(
    status === 503 || status === 429 ? 'unreachable' : 'no_conditions',
    `the object store does not honour If-None-Match: it answered ${status} ${when}; svc needs a store that answers 200, then 412`,
  )
