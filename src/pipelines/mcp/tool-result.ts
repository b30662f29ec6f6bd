import { isRecord } from '../../domain/is-record.ts'
import type { SiteAnswer } from '../runner.ts'
import { failureOf, readAnswer } from './read-answer.ts'

/** What a called tool gives back. A body that is such a result already stays as it is. contract 14.5. */
export async function toolResult(answered: SiteAnswer): Promise<object> {
  const answer = await readAnswer(answered)
  if (!answer.isGood) return { content: [{ type: 'text', text: failureOf(answer) }], isError: true }
  const { text, value } = answer
  if (isRecord(value) && Array.isArray(value['content'])) return value
  return { content: [{ type: 'text', text }], structuredContent: structured(value) }
}

function structured(value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value
  return typeof value === 'string' ? { text: value } : { value }
}
