import { getSchemaValidator, type Static, type TSchema, ValidationError } from 'elysia'
import type { Context } from '../../src/context.ts'
import { AppError, type ErrorDetail } from '../../src/domain/errors.ts'
import { toAppError } from '../../src/http/error-response.ts'
import { readBody } from '../../src/http/held-body.ts'
import { PAGE_ID } from '../components/html.ts'

const MAX_FORM_BYTES = 64 * 1024

/** Elysia must not read the body: readForm does, after the sender was checked. */
export const UNREAD_BODY = { parse: 'none' } as const

/** The fields of a posted form, by name. If a name occurs twice, the first value counts. */
export type Form = {
  /** The id of the rendered page that sent the form. Undefined if the form does not come from our pages. */
  pageId: string | undefined
  /** The text as typed; empty if the field is missing. */
  text(name: string): string
  /** Undefined if the field is missing or empty. */
  optional(name: string): string | undefined
  isTicked(name: string): boolean
  /** All fields, to show them again after an error. */
  all(): Record<string, string>
}

/** Reads a form without files, 64 KiB by default. Throws 413 if it is larger, 415 for another content type. */
export async function readForm(ctx: Context, request: Request, maxBytes = MAX_FORM_BYTES): Promise<Form> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded')
    throw new AppError('unsupported_media_type', 'Send the form as application/x-www-form-urlencoded.')
  const fields = new URLSearchParams(new TextDecoder().decode(await readBody(ctx, request, maxBytes)))
  const pageId = fields.get(PAGE_ID) || undefined
  fields.delete(PAGE_ID)
  return {
    pageId,
    text: (name) => fields.get(name) ?? '',
    optional: (name) => fields.get(name) || undefined,
    isTicked: (name) => fields.get(name) === 'true',
    all: () => Object.fromEntries([...fields].reverse()),
  }
}

/** Any other text is null, which inherits. */
export const booleanOf = (text: string): boolean | null =>
  text === 'true' ? true : text === 'false' ? false : null

/** The requested page of a list, from 1. Anything else is page 1. */
export const pageNumberOf = (text: string | null | undefined): number =>
  Math.max(1, Math.trunc(Number(text)) || 1)

/** The error for a form with an unknown `intent`. */
export const unknownIntent = (): AppError => new AppError('invalid', 'The form does not say what to do.')

/** An error that the page shows beside each named field. */
export const marked = (...details: readonly ErrorDetail[]): AppError =>
  new AppError('invalid', 'Check the marked fields.', details.length > 0 ? { details } : {})

/** The details of the error that the check throws. Rethrows an error without. */
export function flawsOf(check: () => void): readonly ErrorDetail[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof AppError && error.details !== undefined) return error.details
    throw error
  }
}

/** Checks a form's input with the API's schema. Throws `invalid` and names the fields. */
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
