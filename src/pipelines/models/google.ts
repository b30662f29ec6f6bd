import { isRecord } from '../../domain/is-record.ts'
import { countAt, listAt, pieceOf, recordAt, textAt } from './fields.ts'
import type { FinishReason, Piece, Provider } from './provider.ts'

export const google: Provider = {
  usualBase: 'https://generativelanguage.googleapis.com/v1beta',
  setting: 'aiGoogleUrl',
  request({ model, system, turns, maxTokens, temperature }, { key, isStream }) {
    const verb = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    return {
      path: `/models/${encodeURIComponent(model)}:${verb}`,
      headers: { 'x-goog-api-key': key },
      body: {
        contents: turns.map(({ role, text }) => ({
          role: role === 'assistant' ? 'model' : 'user',
          parts: [{ text }],
        })),
        ...(system !== null && { systemInstruction: { parts: [{ text: system }] } }),
        generationConfig: { maxOutputTokens: maxTokens, ...(temperature !== null && { temperature }) },
      },
    }
  },
  readWhole(answer) {
    const piece = read(answer)
    const isAnswer = isRecord(listAt(answer, 'candidates')[0]) || piece.finishReason !== undefined
    return isAnswer ? { ...piece, isLast: true } : null
  },
  readEvent: read,
}

function read(said: Record<string, unknown>): Piece {
  const [candidate] = listAt(said, 'candidates')
  const parts = listAt(recordAt(candidate, 'content'), 'parts')
  const usage = recordAt(said, 'usageMetadata')
  const output = countAt(usage, 'candidatesTokenCount')
  return pieceOf({
    text: parts.length === 0 ? undefined : parts.map(textOfPart).join(''),
    finishReason: finishOf(said, candidate),
    inputTokens: countAt(usage, 'promptTokenCount'),
    outputTokens: output === undefined ? undefined : output + (countAt(usage, 'thoughtsTokenCount') ?? 0),
    problem: isRecord(said['error']) ? (textAt(said['error'], 'message') ?? '') : undefined,
  })
}

/** What the model thinks is not part of its answer. */
const textOfPart = (part: unknown): string =>
  isRecord(part) && part['thought'] !== true ? (textAt(part, 'text') ?? '') : ''

function finishOf(said: Record<string, unknown>, candidate: unknown): FinishReason | undefined {
  if (textAt(said['promptFeedback'], 'blockReason') !== undefined) return 'content-filter'
  const reason = textAt(candidate, 'finishReason')
  return reason === undefined ? undefined : (REASONS[reason] ?? 'other')
}

const REASONS: Readonly<Record<string, FinishReason | undefined>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
}
