import type { OutboundResponse } from '../outbound.ts'
import { OutboundError } from './error.ts'

/** Reads the whole body. Rejects with `OutboundError` `too_large` as soon as it is longer than `maxBytes`. */
export async function readLimited(response: OutboundResponse, maxBytes: number): Promise<Uint8Array> {
  const { body } = response
  if (body === null) return new Uint8Array()
  if (body instanceof Uint8Array) {
    if (body.length > maxBytes) throw tooLong(maxBytes)
    return body
  }
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > maxBytes) throw tooLong(maxBytes)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const tooLong = (maxBytes: number) =>
  new OutboundError('too_large', `The answer is longer than the ${maxBytes} bytes allowed`)

/** Gives the connection of a response up whose body nobody reads on. */
export async function leave({ body }: Pick<OutboundResponse, 'body'>): Promise<void> {
  if (body instanceof ReadableStream) await body.cancel().catch(() => {})
}
