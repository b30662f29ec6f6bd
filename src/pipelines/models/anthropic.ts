import { isRecord } from '../../domain/is-record.ts'
import { countAt, listAt, pieceOf, recordAt, textAt } from './fields.ts'
import type { FinishReason, Piece, Provider } from './provider.ts'

export const anthropic: Provider = {
  usualBase: 'https://api.anthropic.com/v1',
  setting: 'aiAnthropicUrl',
  request({ model, system, turns, maxTokens, temperature }, { key, isStream }) {
    return {
      path: '/messages',
      headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
      body: {
        model,
        max_tokens: maxTokens,
        ...(system !== null && { system }),
        messages: turns.map(({ role, text }) => ({ role, content: text })),
        ...(temperature !== null && { temperature }),
        ...(isStream && { stream: true }),
      },
    }
  },
  readWhole(answer) {
    if (!Array.isArray(answer['content'])) return null
    const text = listAt(answer, 'content')
      .filter((block) => textAt(block, 'type') === 'text')
      .map((block) => textAt(block, 'text') ?? '')
      .join('')
    return { text, ...usageOf(answer['usage']), ...finishOf(answer), isLast: true }
  },
  readEvent(event): Piece {
    switch (event['type']) {
      case 'message_start':
        return usageOf(recordAt(event, 'message')['usage'])
      case 'content_block_delta':
        return pieceOf({ text: textAt(event['delta'], 'text') })
      case 'message_delta':
        return { ...usageOf(event['usage']), ...finishOf(event['delta']) }
      case 'message_stop':
        return { isLast: true }
      case 'error':
        return { problem: textAt(event['error'], 'message') ?? '' }
      default:
        return {}
    }
  },
}

const usageOf = (usage: unknown): Piece =>
  pieceOf({ inputTokens: countAt(usage, 'input_tokens'), outputTokens: countAt(usage, 'output_tokens') })

function finishOf(said: unknown): Piece {
  const reason = isRecord(said) ? textAt(said, 'stop_reason') : undefined
  return reason === undefined ? {} : { finishReason: REASONS[reason] ?? 'other' }
}

const REASONS: Readonly<Record<string, FinishReason | undefined>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  refusal: 'content-filter',
}
