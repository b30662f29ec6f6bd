import type { FinishReason, Piece, Question } from './provider.ts'

/** The output of the step. contract 14.5. */
export type Message = {
  content: string
  role: 'assistant'
  tokensUsed: number
  usage: { inputTokens: number; outputTokens: number; totalTokens: number }
  latencyMs: number
  finishReason: FinishReason
}

const CHARACTERS_PER_TOKEN = 4

/** Adds up the pieces of an answer. Where the provider counts no tokens they are estimated. */
export class Tally {
  readonly #asked: number
  #content = ''
  #heard = 0
  #finishReason: FinishReason | null = null
  #inputTokens: number | null = null
  #outputTokens: number | null = null

  constructor({ system, turns }: Question) {
    const characters = turns.reduce((sum, { text }) => sum + text.length, system?.length ?? 0)
    this.#asked = Math.ceil(characters / CHARACTERS_PER_TOKEN)
  }

  /** Whether the provider said why it ended. */
  get isFinished(): boolean {
    return this.#finishReason !== null
  }

  get tokens(): number {
    return this.#input + this.#output
  }

  hear({ text = '', finishReason, inputTokens, outputTokens }: Piece): void {
    this.#heard += text.length
    this.#finishReason = finishReason ?? this.#finishReason
    this.#inputTokens = inputTokens ?? this.#inputTokens
    this.#outputTokens = outputTokens ?? this.#outputTokens
  }

  /** Takes what is passed on. */
  say(text: string): void {
    this.#content += text
  }

  message(latencyMs: number): Message {
    return {
      content: this.#content,
      role: 'assistant',
      tokensUsed: this.tokens,
      usage: { inputTokens: this.#input, outputTokens: this.#output, totalTokens: this.tokens },
      latencyMs: Math.round(latencyMs),
      finishReason: this.#finishReason ?? 'other',
    }
  }

  get #input(): number {
    return this.#inputTokens ?? this.#asked
  }

  /** Some report a count that they raise as they go, and others none before the end. */
  get #output(): number {
    const heard = Math.ceil(this.#heard / CHARACTERS_PER_TOKEN)
    return this.isFinished ? (this.#outputTokens ?? heard) : Math.max(this.#outputTokens ?? 0, heard)
  }
}
