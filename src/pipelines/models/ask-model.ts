import type { DirectAnswer, StepContext } from '../runner.ts'
import { answerByStream } from './answer-by-stream.ts'
import { Talk } from './talk.ts'
import type { Message } from './tally.ts'
import { wholeAnswer } from './whole-answer.ts'

/** Asks a model what a step says. Where nobody waits for an answer there is nobody to stream it to. */
export function askModel(
  step: StepContext,
  config: Readonly<Record<string, unknown>>,
): Promise<Message | DirectAnswer> {
  const usual = config['mode'] === 'chat' ? 'stream' : 'message'
  const talk = new Talk(step, config)
  return (config['responseMode'] ?? usual) === 'stream' && step.asker !== null
    ? answerByStream(talk)
    : wholeAnswer(talk)
}
