import { AppError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { optionalText, wholeNumber } from '../handlers/config.ts'
import { DEFAULT_HISTORY, DEFAULT_MAX_TOKENS, LARGEST_MAX_TOKENS } from '../language/handlers/ai.ts'
import { plain } from '../language/json-text.ts'
import type { Question, Turn } from './provider.ts'

type Config = Readonly<Record<string, unknown>>

const MAX_TEXT_BYTES = 2 ** 20

/** What the configuration of a step asks. Throws 400 without a question, 413 for one that is too long. */
export function questionOf(config: Config): Question {
  const system = optionalText(config, 'systemPrompt')
  const turns = config['mode'] === 'chat' ? turnsOfChat(config) : [onlyTurn(config)]
  const bytes = turns.reduce(
    (sum, { text }) => sum + Buffer.byteLength(text),
    Buffer.byteLength(system ?? ''),
  )
  if (bytes > MAX_TEXT_BYTES)
    throw new AppError('too_large', `The text for the model is longer than ${MAX_TEXT_BYTES} bytes (1 MiB)`)
  const model = optionalText(config, 'model')?.trim() ?? ''
  if (model === '') throw new AppError('internal', 'The step names no model')
  return {
    model,
    system: system === null || system.trim() === '' ? null : system,
    turns,
    maxTokens: Math.min(wholeNumber(config, 'maxTokens', DEFAULT_MAX_TOKENS, 1), LARGEST_MAX_TOKENS),
    temperature: temperatureOf(config['temperature']),
  }
}

function onlyTurn(config: Config): Turn {
  const given = plain(config['messageField'])
  const text = typeof given === 'number' || typeof given === 'boolean' ? String(given) : given
  if (typeof text === 'string' && text.trim() !== '') return { role: 'user', text }
  throw new AppError('invalid', 'There is no message: send one as a text', { code: 'MISSING_MESSAGE' })
}

function turnsOfChat(config: Config): Turn[] {
  const given = plain(config['messagesField'])
  const turns = (Array.isArray(given) ? given : []).flatMap(turnOf)
  if (turns.length === 0)
    throw new AppError('invalid', 'There are no messages: send a list of { role, content }', {
      code: 'MISSING_MESSAGES',
    })
  return turns.slice(-wholeNumber(config, 'maxHistoryMessages', DEFAULT_HISTORY, 1))
}

/** Of other roles, and without a text, there is none. */
function turnOf(given: unknown): Turn[] {
  if (!isRecord(given)) return []
  const { role, content, parts } = given
  if (role !== 'user' && role !== 'assistant') return []
  const text = typeof content === 'string' ? content : textOfParts(parts ?? content)
  return text.trim() === '' ? [] : [{ role, text }]
}

const textOfParts = (parts: unknown): string =>
  (Array.isArray(parts) ? parts : [])
    .map((part) =>
      isRecord(part) && part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : '',
    )
    .join('')

function temperatureOf(given: unknown): number | null {
  if (given === undefined || given === null || given === '') return null
  const value = Number(given)
  if (Number.isFinite(value) && value >= 0) return Math.min(value, 2)
  throw new AppError('invalid', 'temperature must be a number from 0 to 2')
}
