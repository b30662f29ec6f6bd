import { Type } from 'typebox'
import { checkFieldValue, convertFieldText, type FieldType } from '../../../domain/field-types.ts'
import { plain } from '../json-text.ts'
import { compilePattern, isQuickPattern } from '../safe-pattern.ts'

export const FORM_TYPES = [
  'string',
  'number',
  'integer',
  'boolean',
  'email',
  'url',
  'date',
  'json',
] as const satisfies FieldType[]

/** One field of a form, as a rule declares it. */
export const field = Type.Object(
  {
    type: Type.Union(FORM_TYPES.map((type) => Type.Literal(type))),
    required: Type.Optional(Type.Boolean()),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    pattern: Type.Optional(Type.String({ maxLength: 1000 })),
    default: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)
export type Field = Type.Static<typeof field>

/** `message`: what is wrong with the value; null if nothing is. */
export type Read = { value: unknown; message: string | null }

export const isMissing = (value: unknown): boolean => value === undefined || value === null || value === ''

/** The value in the type of the field. `message` goes without the name of the field. */
export function readValue(field: Field, given: unknown, isText: boolean): Read {
  const checked = isText ? convertFieldText(field.type, String(given)) : checkFieldValue(field.type, given)
  if (!checked.ok) return { value: null, message: checked.message }
  const { value } = checked
  return { value, message: rangeProblem(field, value) ?? patternProblem(field, value) }
}

/** The value of an absent field. A default is converted like the text of a form: '7' may be a number or a text. */
export function readDefault(field: Field, given: unknown): Read {
  const value = plain(given ?? null)
  if (value === '' && field.type === 'string') return { value, message: null }
  if (isMissing(value)) return { value: null, message: field.required === true ? 'is required' : null }
  return readValue(field, value, typeof value !== 'object' && field.type !== 'json')
}

function rangeProblem({ min, max }: Field, value: unknown): string | null {
  const isLength = typeof value === 'string'
  const size = isLength ? value.length : value
  if (typeof size !== 'number') return null
  const unit = isLength ? ' characters' : ''
  if (min !== undefined && size < min) return `must be at least ${min}${unit}`
  if (max !== undefined && size > max) return `must be at most ${max}${unit}`
  return null
}

/** The message leaves out the pattern, which may be a list of codes. */
export const WRONG_FORM = 'does not have the right form'

/** Returns null also for a pattern that might be slow: the sandbox checks that one. */
function patternProblem(field: Field, value: unknown): string | null {
  const { pattern } = field
  if (pattern === undefined || typeof value !== 'string' || needsSandbox(field, value)) return null
  return compilePattern(pattern).test(value) ? null : WRONG_FORM
}

/** Whether a match might be slow. */
export const needsSandbox = ({ pattern }: Field, value: unknown): boolean =>
  pattern !== undefined && typeof value === 'string' && !isQuickPattern(pattern, value.length)
