import { isRecord } from '../../domain/is-record.ts'
import { requestView } from '../input.ts'
import type { StepContext } from '../runner.ts'
import { optionalText } from './config.ts'

/** The text at `key` of the configuration; if that is left out, the field of the body. Empty for none. */
export function textOrField(
  { input }: StepContext,
  config: Readonly<Record<string, unknown>>,
  key: string,
  field = key,
): string {
  if (config[key] !== undefined) return (optionalText(config, key) ?? '').trim()
  const body = requestView(input)['body']
  const value = isRecord(body) && Object.hasOwn(body, field) ? body[field] : null
  return typeof value === 'string' ? value.trim() : ''
}
