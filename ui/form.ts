import { getSchemaValidator, type Static, type TSchema, ValidationError } from 'elysia'
import type { Context } from '../src/context.ts'
import { AppError, type ErrorDetail } from '../src/domain/errors.ts'
import { toAppError } from '../src/http/error-response.ts'
import { readBody } from '../src/http/json-body.ts'
import { SHEET } from './html.ts'

const MAX_FORM_BYTES = 64 * 1024

/** The fields of a posted form, by name; the first value where a name comes twice. */
export type Form = {
  /** Of the page that it was sent from: another at each showing. Undefined for what no page of ours sent. */
  sheet: string | undefined
  /** The text as it was typed; empty when the field is missing. */
  text(name: string): string
  /** Undefined when the field is missing or empty. */
  optional(name: string): string | undefined
  isTicked(name: string): boolean
  /** Every field, to be shown again when the form is refused. */
  all(): Record<string, string>
}

/** Reads a form that a browser posts without a file: 64 KiB where nothing is said. Throws 413 above that, 415 for another type. */
export async function readForm(request: Request, mostBytes = MAX_FORM_BYTES): Promise<Form> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new AppError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.')
  const fields = new URLSearchParams(new TextDecoder().decode(await readBody(request, mostBytes)))
  const sheet = fields.get(SHEET) || undefined
  fields.delete(SHEET)
  return {
    sheet,
    text: (name) => fields.get(name) ?? '',
    optional: (name) => fields.get(name) || undefined,
    isTicked: (name) => fields.get(name) === 'true',
    all: () => Object.fromEntries([...fields].reverse()),
  }
}

/** Null for anything else, which inherits. */
export const booleanOf = (text: string): boolean | null =>
  text === 'true' ? true : text === 'false' ? false : null

/** Which page of a list the address asks for, from 1 on: the first where it says anything else. */
export const pageNumberOf = (text: string | null | undefined): number =>
  Math.max(1, Math.trunc(Number(text)) || 1)

/** A form that asks for nothing that its page does. */
export const unknownIntent = (): AppError => new AppError('invalid', 'The form does not say what to do.')

/** A refusal that the page shows beside each of the fields. */
export const marked = (...details: readonly ErrorDetail[]): AppError =>
  new AppError('invalid', 'Check what is marked.', details.length > 0 ? { details } : {})

/** Checks what a form says with the schema that the API has for the same. Throws `invalid` naming the fields. */
export function checkInput<T extends TSchema>(
  ctx: Context,
  request: Request,
  schema: T,
  input: unknown,
): asserts input is Static<T> {
  const validator = getSchemaValidator(schema)
  if (validator.Check(input)) return
  const { details } = toAppError(ctx, new ValidationError('body', validator, input), request)
  throw marked(...(details ?? []))
}
