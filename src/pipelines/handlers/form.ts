import { Type } from 'typebox'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { checkFieldValue, convertFieldText, type FieldType } from '../../domain/field-types.ts'
import { isRecord } from '../../domain/is-record.ts'
import { Answer, type Handler, type StepContext } from '../handler.ts'
import { withoutCharset } from '../input.ts'
import { constantOf } from '../language/handlers/words.ts'
import { isJsonWithin, plain } from '../language/json-text.ts'
import { compilePattern, isQuickPattern } from '../language/safe-pattern.ts'
import { runInSandbox } from '../sandbox/sandbox-for.ts'

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
    'Validates the input of a form, a script or a link. If any field is invalid, the response is 400 and names all invalid fields. Reads JSON, forms and, for GET, the query. Of a `boolean` that a form sends several times the last counts (a hidden `0` and a checkbox); equal values of other scalars count once, and different ones are 400.',
  result: 'the declared fields with their types; absent optional fields are null.',
  config: Type.Object(
    {
      fields: Type.Record(Type.String(), field, {
        description: `\`{ <field>: { type, required, min, max, pattern, default } }\`; type is one of ${FORM_TYPES.join(', ')}; \`min\` and \`max\` limit the value of a number or the length of a text; \`pattern\` must match the whole text; \`default\` is converted and checked like a given value`,
      }),
      honeypotField: Type.Optional(
        Type.String({
          description:
            'a field that people cannot see: if it is filled in, the response is `{ "success": true }` and nothing else happens',
        }),
      ),
      failOnError: Type.Optional(
        Type.Boolean({
          description:
            'with `false`, invalid fields do not fail the step: they are null, and the output has `errors`, which is `{ <field>: message }`, or null if all fields are valid; default true',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  isLiteral: (path) => !(path[0] === 'fields' && path[2] === 'default'),
  check: ({ fields, failOnError }) => [...checkPatterns(fields), ...checkErrors(fields, failOnError)],
  foresee: ({ fields }) => checkDefaults(fields),
  run(step, config) {
    const { values, isText } = submitted(step)
    if (isTrapped(config['honeypotField'], values)) return new Answer({ ...SUCCESS, isFinal: true })
    const reads = Object.entries((config['fields'] ?? {}) as Record<string, Field>).map(([name, field]) => {
      const given = Object.hasOwn(values, name) ? values[name] : undefined
      return { name, field, ...readField(name, field, given, isText) }
    })
    refuseHuge(reads)
    const slow = reads.filter(({ message, field, value }) => message === null && needsSandbox(field, value))
    const output = () => (config['failOnError'] === false ? outputWithErrors(reads) : outputOf(reads))
    return slow.length === 0 ? output() : matchAll(step, slow).then(output)
  },
}

/** The largest JSON, in characters, that all defaults may make together: each may name the outputs of all steps. */
const MAX_DEFAULTS = 16 * 1024 * 1024

function refuseHuge(reads: readonly { field: Field; value: unknown }[]): void {
  const named = reads.filter(({ field }) => typeof field.default === 'object' && field.default !== null)
  if (named.length === 0) return
  const values = named.map(({ value }) => value)
  if (!isJsonWithin(values, MAX_DEFAULTS))
    throw new AppError('internal', 'The step produces a value that is too large')
}

/** The values of all fields. Throws 400 that names every invalid one. */
function outputOf(reads: readonly NamedRead[]): Record<string, unknown> {
  const details = reads.flatMap(({ name, message }): ErrorDetail[] =>
    message === null ? [] : [{ path: name, message }],
  )
  if (details.length > 0)
    throw new AppError('invalid', details.map(({ message }) => message).join('; '), { details })
  return Object.fromEntries(reads.map(({ name, value }) => [name, value]))
}

/** The output for authors who show errors in a page of their own. Invalid values are not passed on. */
function outputWithErrors(reads: readonly NamedRead[]): Record<string, unknown> {
  const values = reads.map(({ name, value, message }) => [name, message === null ? value : null])
  const wrong = reads.flatMap(({ name, message }) => (message === null ? [] : [[name, message]]))
  return { ...Object.fromEntries(values), errors: wrong.length === 0 ? null : Object.fromEntries(wrong) }
}

function checkErrors(fields: unknown, failOnError: unknown): ErrorDetail[] {
  const isTaken = failOnError === false && Object.hasOwn(Object(fields), 'errors')
  return isTaken
    ? [{ path: 'fields.errors', message: 'must have another name when failOnError is false' }]
    : []
}

const SUCCESS = {
  status: 200,
  headers: [['content-type', 'application/json']] as const,
  body: '{"success":true}',
}

const fieldsOf = (fields: unknown): [name: string, field: Field][] =>
  Object.entries(isRecord(fields) ? fields : {}).flatMap(([name, one]) => (isField(one) ? [[name, one]] : []))

const checkPatterns = (fields: unknown): ErrorDetail[] =>
  fieldsOf(fields).flatMap(([name, { pattern }]) =>
    isPattern(pattern) ? [] : [{ path: `fields.${name}.pattern`, message: 'is not a regular expression' }],
  )

function checkDefaults(fields: unknown): ErrorDetail[] {
  return fieldsOf(fields).flatMap(([name, field]) => {
    if (!isPattern(field.pattern)) return []
    const { message } = readDefault({ ...field, required: false }, constantOf(field.default))
    return message === null ? [] : [{ path: `fields.${name}.default`, message }]
  })
}

/** Whether it is well-formed as far as the checks need it. */
const isField = (one: unknown): one is Field =>
  isRecord(one) &&
  FORM_TYPES.some((type) => type === one['type']) &&
  typeof (one['pattern'] ?? '') === 'string'

function isPattern(pattern: string | undefined): boolean {
  try {
    compilePattern(pattern ?? '')
    return true
  } catch {
    return false
  }
}

/** Values of forms and queries are texts that need conversion; JSON has types of its own. */
function submitted({ input }: StepContext): { values: Record<string, unknown>; isText: boolean } {
  if (input.method === 'GET' || input.method === 'HEAD') {
    if (input.queryError !== undefined) throw input.queryError
    return { values: withoutCharset(input.query), isText: true }
  }
  const { body } = input
  switch (body.kind) {
    case 'none':
      return { values: {}, isText: true }
    case 'form':
      return { values: withoutCharset(body.value), isText: true }
    case 'json':
      if (isRecord(body.value)) return { values: body.value, isText: false }
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
  return [values[field]].flat().some((value) => value !== null && value !== '' && value !== false)
}

type Read = { value: unknown; message: string | null }
type NamedRead = Read & { name: string; field: Field }

function readField(name: string, field: Field, sent: unknown, isText: boolean): Read {
  const given = isText && Array.isArray(sent) ? oneOfSeveral(field, sent) : sent
  const { value, message } = isMissing(given)
    ? readDefault(field, field.default)
    : readValue(field, given, isText && typeof given === 'string')
  return { value, message: message === null ? null : `${name} ${message}` }
}

/** A ticked box comes after its hidden `0`; of other fields, values that are equal count once. contract 12.12. */
function oneOfSeveral({ type }: Field, values: readonly unknown[]): unknown {
  if (type === 'json') return values
  if (type === 'boolean') return values.at(-1)
  return values.every((value) => value === values[0]) ? values[0] : values
}

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === ''

/** The value in the type of the field. `message` goes without the name of the field. */
function readValue(field: Field, given: unknown, isText: boolean): Read {
  const checked = isText ? convertFieldText(field.type, String(given)) : checkFieldValue(field.type, given)
  if (!checked.ok) return { value: null, message: checked.message }
  const { value } = checked
  return { value, message: rangeProblem(field, value) ?? patternProblem(field, value) }
}

/** The value of an absent field. A default is converted like the text of a form: '7' may be a number or a text. */
function readDefault(field: Field, given: unknown): Read {
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
const WRONG_FORM = 'does not have the right form'

/** Returns null also for a pattern that might be slow: the sandbox checks that one. */
function patternProblem(field: Field, value: unknown): string | null {
  const { pattern } = field
  if (pattern === undefined || typeof value !== 'string' || needsSandbox(field, value)) return null
  return compilePattern(pattern).test(value) ? null : WRONG_FORM
}

const needsSandbox = ({ pattern }: Field, value: unknown): boolean =>
  pattern !== undefined && typeof value === 'string' && !isQuickPattern(pattern, value.length)

async function matchAll(step: StepContext, reads: readonly NamedRead[]): Promise<void> {
  for (const read of reads) {
    const isMatch = await matchInSandbox(step, read.field.pattern ?? '', String(read.value))
    if (!isMatch) read.message = `${read.name} ${WRONG_FORM}`
  }
}

async function matchInSandbox(step: StepContext, pattern: string, value: string): Promise<boolean> {
  const result = await runInSandbox(step, {
    code: 'const handler = ({ source, value }) => new RegExp(source, "u").test(value)',
    input: JSON.stringify({ source: `^(?:${pattern})$`, value }),
    timeoutMs: 1000,
    keys: [],
  })
  if (!result.ok)
    throw new AppError('internal', 'A pattern of the form takes too long to match', {
      cause: new Error(result.message),
    })
  return result.json === 'true'
}
