import { type Static, t } from 'elysia'

const status = t.Union([t.Literal('ok'), t.Literal('error')])

const healthCheck = t.Object({ status, message: t.Optional(t.String()) })
export type HealthCheck = Static<typeof healthCheck>

export const healthView = t.Object({
  status,
  version: t.String(),
  uptime: t.Number({ description: 'Seconds since the start' }),
  checks: t.Object({ database: healthCheck, storage: healthCheck }),
})
export type Health = Static<typeof healthView>
