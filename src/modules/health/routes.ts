import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { healthView } from './model.ts'
import { probe } from './service.ts'

export const healthRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/health', tags: ['Setup and health'] }).get(
    '/',
    async ({ status }) => {
      const found = await probe(ctx)
      return found.status === 'ok' ? found : status(503, found)
    },
    {
      response: { 200: healthView, 503: healthView },
      detail: { summary: 'Writes to the database and the storage', security: [] },
    },
  )
