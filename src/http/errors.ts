import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { errorResponse, toAppError } from './error-response.ts'

/** Every route's thrown values become responses here. */
export const errorResponses = (ctx: Context) =>
  new Elysia({ name: 'http/errors' }).onError({ as: 'global' }, ({ error, request }) =>
    errorResponse(toAppError(ctx, error, request)),
  )
