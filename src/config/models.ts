import { httpsUrl, type PlainOption, wholeNumber } from './values.ts'

/** Settings of language models. contract 14.1. */
export type ModelsConfig = {
  aiOpenaiUrl: string | null
  aiAnthropicUrl: string | null
  aiGoogleUrl: string | null
  aiDailyTokens: number
}

const address = (env: string, whose: string, usual: string): PlainOption<string | null> => ({
  env,
  help: `https address of the models of ${whose}, or of a server that speaks as they do`,
  shownDefault: usual,
  fallback: () => null,
  parse: httpsUrl,
})

export const MODELS_OPTIONS: { [K in keyof ModelsConfig]: PlainOption<ModelsConfig[K]> } = {
  aiOpenaiUrl: address('AI_OPENAI_URL', 'OpenAI', 'https://api.openai.com/v1'),
  aiAnthropicUrl: address('AI_ANTHROPIC_URL', 'Anthropic', 'https://api.anthropic.com/v1'),
  aiGoogleUrl: address('AI_GOOGLE_URL', 'Google', 'https://generativelanguage.googleapis.com/v1beta'),
  aiDailyTokens: {
    env: 'AI_DAILY_TOKENS',
    help: 'tokens of language models that each project may use in a day (UTC); 0 for no bound',
    shownDefault: '1000000',
    fallback: () => 1_000_000,
    parse: wholeNumber(0, 1_000_000_000_000),
  },
}
