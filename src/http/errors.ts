import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { errorResponse, toAppError } from './error-response.ts'

/** The one place where a thrown value becomes an answer of the API. */
export const errorResponses = (ctx: Context) =>
  new Elysia({ name: 'http/errors' }).onError({ as: 'global' }, ({ error, request }) =>
    errorResponse(toAppError(ctx, error, request)),
  )
