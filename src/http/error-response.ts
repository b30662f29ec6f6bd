import type { ValidationError } from 'elysia'
import type { Context } from '../context.ts'
import { isDiskFull } from '../db/open.ts'
import { AppError, type ErrorDetail } from '../domain/errors.ts'
import { DatabaseLockedError } from '../platform/database-lock.ts'
import { expectation } from './expectation.ts'
import { loggedPath } from './logged-path.ts'

/** Turns a failure into an API response. spec: Errors. */
export function errorResponse(failure: AppError): Response {
  return Response.json(failure.toBody(), {
    status: failure.status,
    headers: { ...failure.headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  })
}

/**
 * Turns a thrown value into an error that may be shown. Unexpected errors are logged here, once, and shown as internal
 * errors.
 */
export function toAppError(
  ctx: Pick<Context, 'log'>,
  error: unknown,
  request: Pick<Request, 'method' | 'url'>,
): AppError {
  const known = knownFailure(error)
  const failure =
    known ??
    new AppError('internal', 'Something went wrong on the server. See the log for details.', { cause: error })
  if (failure.status >= 500) logFailure(ctx, failure, request)
  return failure
}

/** A refusal while there is too much to do is no fault, and there may be thousands of them. */
function logFailure(
  { log }: Pick<Context, 'log'>,
  failure: AppError,
  { method, url }: Pick<Request, 'method' | 'url'>,
): void {
  const about = { method, path: loggedPath(new URL(url).pathname), status: failure.status }
  const isBusy = failure.kind === 'unavailable' && failure.cause === undefined
  if (isBusy) log.warn('request refused', { ...about, reason: failure.message })
  else log.error('request failed', { ...about, error: failure.cause ?? failure })
}

function knownFailure(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (!(error instanceof Error)) return undefined
  if (isValidationError(error)) return error.type === 'response' ? undefined : invalidInput(error)
  if (error.cause instanceof AppError) return error.cause
  if (error instanceof DatabaseLockedError)
    return new AppError('unavailable', 'Another program has locked the database. Nothing was changed.', {
      cause: error,
      headers: { 'retry-after': '5' },
    })
  if (isDiskFull(error))
    return new AppError('storage_full', "The server's disk is full. Nothing was changed.", {
      cause: error,
    })
  if ('code' in error && error.code === 'PARSE') return new AppError('invalid', 'The body could not be read')
  if ('code' in error && error.code === 'NOT_FOUND')
    return new AppError('not_found', 'This path does not exist in the API')
  return undefined
}

/** Recognised by its code, so that serving files does not load Elysia. */
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
  const path = problem.path
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replace(/^\//, '')
    .replaceAll('/', '.')
  return { path, message: expectation(problem.schema, problem.message, problem.value) }
}
