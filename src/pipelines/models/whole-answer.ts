import { isRecord } from '../../domain/is-record.ts'
import { readLimited } from '../../platform/outbound/read.ts'
import { HiddenText } from './hidden-text.ts'
import { sendQuestion } from './send-question.ts'
import type { Talk } from './talk.ts'
import type { Message } from './tally.ts'

const MAX_ANSWER_BYTES = 4 * 2 ** 20

/** Waits for all of an answer. */
export async function wholeAnswer(talk: Talk): Promise<Message> {
  const { tally } = talk
  try {
    const response = await sendQuestion(talk, false)
    const json = JSON.parse(new TextDecoder().decode(await readLimited(response, MAX_ANSWER_BYTES)))
    const piece = isRecord(json) ? talk.provider.readWhole(json) : null
    if (piece === null) throw talk.unreadable('it is no answer of this provider')
    const hidden = new HiddenText(talk.key)
    tally.hear(piece)
    tally.say(hidden.pass(piece.text ?? '') + hidden.rest())
    return tally.message(talk.latencyMs)
  } catch (error) {
    throw talk.failureOf(error)
  } finally {
    talk.end()
    await talk.count()
  }
}
