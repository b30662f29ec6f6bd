import { isRecord } from '../../domain/is-record.ts'
import type { OutboundResponse } from '../../platform/outbound.ts'
import { eventData } from './event-data.ts'
import { HiddenText } from './hidden-text.ts'
import type { Piece } from './provider.ts'
import { sendQuestion } from './send-question.ts'
import type { Talk } from './talk.ts'
import type { Message } from './tally.ts'

const MAX_STREAM_BYTES = 16 * 2 ** 20

/** The text of an answer as it comes, and then its message. Its tokens are counted when it ends, however it does. */
export async function* deltasOf(talk: Talk): AsyncGenerator<string, Message> {
  const { tally, key } = talk
  const hidden = new HiddenText(key)
  try {
    for await (const piece of piecesOf(talk, await sendQuestion(talk, true))) {
      tally.hear(piece)
      const text = hidden.pass(piece.text ?? '')
      tally.say(text)
      if (text !== '') yield text
    }
    const rest = hidden.rest()
    tally.say(rest)
    if (rest !== '') yield rest
    return tally.message(talk.latencyMs)
  } catch (error) {
    throw talk.failureOf(error)
  } finally {
    talk.end()
    await talk.count()
  }
}

/** Throws if the answer breaks off, or goes on for too long. */
async function* piecesOf(talk: Talk, { body }: OutboundResponse): AsyncGenerator<Piece> {
  let isOver = false
  for await (const data of eventData(limited(talk, body))) {
    if (data === '[DONE]') return
    const event: unknown = JSON.parse(data)
    const piece = isRecord(event) ? talk.provider.readEvent(event) : {}
    if (piece.problem !== undefined) throw talk.reported(piece.problem)
    isOver ||= piece.finishReason !== undefined
    yield piece
    if (piece.isLast === true) return
  }
  if (!isOver) throw talk.cutOff()
}

async function* limited(talk: Talk, body: OutboundResponse['body']): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const piece of body instanceof Uint8Array ? [body] : (body ?? [])) {
    size += piece.length
    if (size > MAX_STREAM_BYTES) throw talk.unreadable('it is longer than 16 MiB')
    yield piece
  }
}
