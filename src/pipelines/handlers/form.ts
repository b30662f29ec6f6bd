import { Type } from 'typebox'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { checkFieldValue, convertFieldText, type FieldType } from '../../domain/field-types.ts'
import { Answer, type Handler, type StepContext } from '../handler.ts'
import { plain } from '../json-text.ts'
import { compilePattern, isQuickPattern } from '../safe-pattern.ts'
import { sandboxFor } from '../sandbox-of.ts'

const FORM_TYPES = [
  'string',
  'number',
  'integer',
  'boolean',
  'email',
  'url',
  'date',
  'json',
] as const satisfies FieldType[]

const field = Type.Object(
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
type Field = Type.Static<typeof field>

export const formHandler: Handler = {
  names: ['form_handler'],
  summary:
    'Checks what a form, a script or a link sent, and goes on only when all of it is good; else 400 names every field that is wrong. Reads JSON, forms and, for GET, the query.',
  result: 'the declared fields with their types; optional ones that are absent are null.',
  config: Type.Object(
    {
      fields: Type.Record(Type.String(), field, {
        description: `\`{ <field>: { type, required, min, max, pattern, default } }\`; type is one of ${FORM_TYPES.join(', ')}; \`min\` and \`max\` are values of numbers and lengths of text; \`pattern\` must match the whole`,
      }),
      honeypotField: Type.Optional(
        Type.String({
          description:
            'a field that people do not see: when it is filled, the answer is a success and nothing is done',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  isLiteral: (path) => !(path[0] === 'fields' && path[2] === 'default'),
  check: ({ fields }) => checkPatterns(fields),
  async run(step, config) {
    const { values, isText } = submitted(step)
    if (isTrapped(config['honeypotField'], values)) return new Answer({ ...SUCCESS, isFinal: true })
    const output: [string, unknown][] = []
    const details: ErrorDetail[] = []
    for (const [name, field] of Object.entries((config['fields'] ?? {}) as Record<string, Field>)) {
      const given = Object.hasOwn(values, name) ? values[name] : undefined
      const read = readField(name, field, given, isText)
      const message = read.message ?? (await patternProblem(step, name, field, read.value))
      if (message === null) output.push([name, read.value])
      else details.push({ path: name, message })
    }
    if (details.length > 0)
      throw new AppError('invalid', details.map(({ message }) => message).join('; '), { details })
    return Object.fromEntries(output)
  },
}

const SUCCESS = {
  status: 200,
  headers: [['content-type', 'application/json']] as const,
  body: '{"success":true}',
}

function checkPatterns(fields: unknown): ErrorDetail[] {
  if (typeof fields !== 'object' || fields === null) return []
  return Object.entries(fields as Record<string, Partial<Field> | null>).flatMap(([name, field]) => {
    if (typeof field?.pattern !== 'string') return []
    try {
      compilePattern(field.pattern)
      return []
    } catch {
      return [{ path: `fields.${name}.pattern`, message: 'is not a regular expression' }]
    }
  })
}

/** Values of forms and queries are texts, to be converted; JSON has its types. */
function submitted({ input }: StepContext): { values: Record<string, unknown>; isText: boolean } {
  if (input.method === 'GET' || input.method === 'HEAD') return { values: input.query, isText: true }
  const { body } = input
  switch (body.kind) {
    case 'none':
      return { values: {}, isText: true }
    case 'form':
      return { values: body.value, isText: true }
    case 'json':
      if (typeof body.value === 'object' && body.value !== null && !Array.isArray(body.value))
        return { values: body.value as Record<string, unknown>, isText: false }
      throw new AppError('invalid', 'Send the fields as a JSON object')
    case 'text':
      throw new AppError('invalid', 'Send the fields as JSON or as a form')
    case 'unsupported':
      throw new AppError(
        'unsupported_media_type',
        `Send the fields as JSON or as a form, not as ${body.contentType.slice(0, 100)}`,
      )
    case 'broken':
      throw body.error
  }
}

function isTrapped(field: unknown, values: Record<string, unknown>): boolean {
  if (typeof field !== 'string' || !Object.hasOwn(values, field)) return false
  const value = values[field]
  return value !== null && value !== '' && value !== false
}

type Read = { value: unknown; message: string | null }

function readField(name: string, field: Field, given: unknown, isText: boolean): Read {
  if (given === undefined || given === null || given === '') {
    const fallback = plain(field.default ?? null)
    if (fallback !== null) return { value: fallback, message: null }
    return { value: null, message: field.required === true ? `${name} is required` : null }
  }
  const checked =
    isText && typeof given === 'string'
      ? convertFieldText(field.type, given)
      : checkFieldValue(field.type, given)
  if (!checked.ok) return { value: null, message: `${name} ${checked.message}` }
  return { value: checked.value, message: rangeProblem(name, field, checked.value) }
}

function rangeProblem(name: string, { min, max }: Field, value: unknown): string | null {
  const isLength = typeof value === 'string'
  const size = isLength ? value.length : value
  if (typeof size !== 'number') return null
  const unit = isLength ? ' characters' : ''
  if (min !== undefined && size < min) return `${name} must be at least ${min}${unit}`
  if (max !== undefined && size > max) return `${name} must be at most ${max}${unit}`
  return null
}

async function patternProblem(
  step: StepContext,
  name: string,
  { pattern }: Field,
  value: unknown,
): Promise<string | null> {
  if (pattern === undefined || typeof value !== 'string') return null
  const isMatch = isQuickPattern(pattern, value.length)
    ? compilePattern(pattern).test(value)
    : await matchInSandbox(step, pattern, value)
  return isMatch ? null : `${name} does not have the right form`
}

async function matchInSandbox(step: StepContext, pattern: string, value: string): Promise<boolean> {
  const result = await sandboxFor(step.ctx).run(step.projectId, {
    code: 'const handler = ({ source, value }) => new RegExp(source, "u").test(value)',
    input: JSON.stringify({ source: `^(?:${pattern})$`, value }),
    timeoutMs: 1000,
    keys: [],
  })
  if (!result.ok)
    throw new AppError('internal', 'A pattern of the form takes too long', {
      cause: new Error(result.message),
    })
  return result.json === 'true'
}
