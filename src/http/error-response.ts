import type { ValidationError } from 'elysia'
import type { Context } from '../context.ts'
import { isDiskFull } from '../db/open.ts'
import { AppError, type ErrorDetail } from '../domain/errors.ts'

/** A failure as an answer of the API. spec: Errors. */
export function errorResponse(failure: AppError): Response {
  return Response.json(failure.toBody(), {
    status: failure.status,
    headers: { ...failure.headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  })
}

/** What may be shown of a thrown value. What nobody expected is logged here, once, and shown as an internal error. */
export function toAppError(ctx: Pick<Context, 'log'>, error: unknown, request: Request): AppError {
  const known = knownFailure(error)
  const failure =
    known ??
    new AppError('internal', 'Something went wrong on the server. The log says what.', { cause: error })
  if (failure.status >= 500)
    ctx.log.error('request failed', {
      method: request.method,
      path: pathOf(request.url),
      status: failure.status,
      error: failure.cause ?? failure,
    })
  return failure
}

function knownFailure(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (!(error instanceof Error)) return undefined
  if (isValidationError(error)) return error.type === 'response' ? undefined : invalidInput(error)
  if (error.cause instanceof AppError) return error.cause
  if (isDiskFull(error))
    return new AppError('storage_full', 'The disk of the server is full. Nothing was changed.', {
      cause: error,
    })
  if ('code' in error && error.code === 'PARSE') return new AppError('invalid', 'The body could not be read.')
  if ('code' in error && error.code === 'NOT_FOUND')
    return new AppError('not_found', 'There is no such path in the API.')
  return undefined
}

/** Told by its code, so that Elysia need not be loaded to serve files. */
const isValidationError = (error: Error): error is ValidationError =>
  'code' in error && error.code === 'VALIDATION'

function invalidInput(error: ValidationError): AppError {
  const all = error.all.map(toDetail)
  const paths = all.map(({ path }) => path)
  const details = all.filter(({ path }, i) => paths.indexOf(path) === i)
  const first = details[0]
  const what =
    first === undefined
      ? 'The input is not valid'
      : `${first.path === '' ? 'The body' : first.path}: ${first.message}`
  return new AppError('invalid', what, { details })
}

function toDetail(problem: ValidationError['all'][number]): ErrorDetail {
  if (!('path' in problem)) return { path: '', message: 'The value is not valid' }
  const path = problem.path.replace(/^\//, '').replaceAll('/', '.')
  return { path, message: expectation(problem.schema) ?? problem.message }
}

/** A schema's own words (`error`) come before the validator's. */
function expectation(schema: unknown): string | undefined {
  const isWorded = typeof schema === 'object' && schema !== null && 'error' in schema
  return isWorded && typeof schema.error === 'string' ? schema.error : undefined
}

const pathOf = (url: string): string => new URL(url).pathname
