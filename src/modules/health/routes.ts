import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { probe } from './service.ts'

const check = t.Object({
  status: t.Union([t.Literal('ok'), t.Literal('error')]),
  message: t.Optional(t.String()),
})
const health = t.Object({
  status: t.Union([t.Literal('ok'), t.Literal('error')]),
  version: t.String(),
  uptime: t.Number({ description: 'Seconds since the start' }),
  checks: t.Object({ database: check, storage: check }),
})

export const healthRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/health', tags: ['Setup and health'] }).get(
    '/',
    async ({ status }) => {
      const found = await probe(ctx)
      return found.status === 'ok' ? found : status(503, found)
    },
    {
      response: { 200: health, 503: health },
      detail: { summary: 'Writes to the database and the storage', security: [] },
    },
  )
