import { isRecord } from '../../domain/is-record.ts'
import { countAt, listAt, pieceOf, recordAt, textAt } from './fields.ts'
import type { FinishReason, Piece, Provider } from './provider.ts'

/** Chat completions, which many other servers speak, too. */
export const openai: Provider = {
  usualBase: 'https://api.openai.com/v1',
  setting: 'aiOpenaiUrl',
  request({ model, system, turns, maxTokens, temperature }, { base, key, isStream }) {
    const first = system === null ? [] : [{ role: 'system', content: system }]
    const limit = base.hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens'
    return {
      path: '/chat/completions',
      headers: { authorization: `Bearer ${key}` },
      body: {
        model,
        messages: [...first, ...turns.map(({ role, text }) => ({ role, content: text }))],
        [limit]: maxTokens,
        ...(temperature !== null && { temperature }),
        ...(isStream && { stream: true, stream_options: { include_usage: true } }),
      },
    }
  },
  readWhole(answer) {
    const [choice] = listAt(answer, 'choices')
    if (!isRecord(choice)) return null
    return { ...read(answer, choice, 'message'), isLast: true }
  },
  readEvent: (event) => read(event, listAt(event, 'choices')[0], 'delta'),
}

function read(said: Record<string, unknown>, choice: unknown, key: 'message' | 'delta'): Piece {
  const part = recordAt(choice, key)
  const usage = recordAt(said, 'usage')
  const finish = textAt(choice, 'finish_reason')
  return pieceOf({
    text: textAt(part, 'content') ?? textAt(part, 'refusal'),
    finishReason: finish === undefined ? undefined : (REASONS[finish] ?? 'other'),
    inputTokens: countAt(usage, 'prompt_tokens'),
    outputTokens: countAt(usage, 'completion_tokens'),
    problem: isRecord(said['error']) ? (textAt(said['error'], 'message') ?? '') : undefined,
  })
}

const REASONS: Readonly<Record<string, FinishReason | undefined>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
}
