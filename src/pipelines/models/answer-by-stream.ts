import type { AppError } from '../../domain/errors.ts'
import { DirectAnswer, type StreamEnd } from '../runner.ts'
import { deltasOf } from './deltas.ts'
import type { Talk } from './talk.ts'

const HEADERS = {
  'content-type': 'text/event-stream',
  'x-vercel-ai-ui-message-stream': 'v1',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}

/** The only text of an answer. */
const TEXT = { id: 'text-1' }

/** Answers with the text as it comes, as a UI message stream of the AI SDK. Rejects if there is no first piece of it. */
export async function answerByStream(talk: Talk): Promise<DirectAnswer> {
  const deltas = deltasOf(talk)
  const first = await deltas.next()
  const end = Promise.withResolvers<StreamEnd>()
  const response = new Response(streamOf(talk, { deltas, first, end: end.promise }), { headers: HEADERS })
  return new DirectAnswer(response, { onEnd: end.resolve })
}

type Source = {
  deltas: ReturnType<typeof deltasOf>
  first: Awaited<ReturnType<ReturnType<typeof deltasOf>['next']>>
  end: Promise<StreamEnd>
}

function streamOf(talk: Talk, { deltas, first, end }: Source): ReadableStream<Uint8Array> {
  const { asker } = talk.step
  let isBegun = false
  /** Whether the stream goes on. */
  const sendNext = async (send: (...events: object[]) => void): Promise<boolean> => {
    const next = isBegun ? await deltas.next() : first
    if (!isBegun) {
      asker?.allowSilence(true)
      isBegun = true
      send({ type: 'start' }, { type: 'start-step' }, { type: 'text-start', ...TEXT })
    }
    if (next.done !== true) {
      send({ type: 'text-delta', ...TEXT, delta: next.value })
      return true
    }
    send({ type: 'text-end', ...TEXT }, { type: 'finish-step' }, { type: 'finish' })
    await (await end).whole(next.value)
    return false
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const send = (...events: object[]) => controller.enqueue(encoded(events.map(line).join('')))
        try {
          if (await sendNext(send)) return
        } catch (error) {
          const failure = noted(talk, error)
          ;(await end).broke(failure)
          send({ type: 'error', errorText: failure.message })
        }
        controller.enqueue(encoded('data: [DONE]\n\n'))
        controller.close()
        asker?.allowSilence(false)
      },
      async cancel() {
        asker?.allowSilence(false)
        talk.end()
        await deltas.return(talk.tally.message(talk.latencyMs)).catch(() => undefined)
        ;(await end).left()
      },
    },
    { highWaterMark: 0 },
  )
}

const line = (event: object): string => `data: ${JSON.stringify(event)}\n\n`
const encoded = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A visitor reads its message. The log has the rest. */
function noted(talk: Talk, error: unknown): AppError {
  const failure = talk.failureOf(error)
  const { message, kind, cause } = failure
  const { ctx, projectId } = talk.step
  if (kind !== 'timed_out')
    ctx.log.warn('an answer of a model broke off', { project: projectId, message, cause })
  return failure
}
