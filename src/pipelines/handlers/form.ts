import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { withoutCharset } from '../input.ts'
import {
  type Field,
  isMissing,
  needsSandbox,
  type Read,
  readDefault,
  readValue,
  WRONG_FORM,
} from '../language/handlers/form-field.ts'
import { isJsonWithin } from '../language/json-text.ts'
import { Answer, type Runner, type StepContext } from '../runner.ts'
import { runInSandbox } from '../sandbox/sandbox-for.ts'

export const formRunner: Runner = {
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

const SUCCESS = {
  status: 200,
  headers: [['content-type', 'application/json']] as const,
  body: '{"success":true}',
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
