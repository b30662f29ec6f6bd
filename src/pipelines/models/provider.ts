import type { ModelsConfig } from '../../config/models.ts'

export type Turn = { role: 'user' | 'assistant'; text: string }

/** What a model is asked. */
export type Question = {
  model: string
  system: string | null
  turns: readonly Turn[]
  maxTokens: number
  temperature: number | null
}

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'other'

/** What one part of an answer says, or all of it. Numbers and the reason replace those of earlier parts. */
export type Piece = {
  text?: string
  finishReason?: FinishReason
  inputTokens?: number
  outputTokens?: number
  /** Nothing follows. */
  isLast?: true
  /** The provider reports a failure in place of the rest, with these words. */
  problem?: string
}

export type ModelRequest = {
  path: string
  headers: Record<string, string>
  body: Record<string, unknown>
}

/** How one provider is asked and read. */
export type Provider = {
  usualBase: string
  setting: Exclude<keyof ModelsConfig, 'aiDailyTokens'>
  request(question: Question, how: { base: URL; key: string; isStream: boolean }): ModelRequest
  /** Null for what is no answer of this provider. */
  readWhole(answer: Record<string, unknown>): Piece | null
  readEvent(event: Record<string, unknown>): Piece
}
