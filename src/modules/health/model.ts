import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'

const status = t.Union([t.Literal('ok'), t.Literal('error')])

const healthCheck = t.Object({ status, message: t.Optional(t.String()) })
export type HealthCheck = Static<typeof healthCheck>

export const healthView = t.Object({
  status,
  version: t.String(),
  uptime: t.Number({ description: 'Seconds since the start' }),
  role: t.Optional(t.Union([t.Literal('primary'), t.Literal('standby'), t.Literal('node')])),
  checks: t.Object({ database: healthCheck, storage: healthCheck, store: t.Optional(healthCheck) }),
})
export type Health = Static<typeof healthView>

export const primaryView = t.Object({ role: t.Literal('primary'), epoch: t.Number() })

const checkName = t.Union([
  t.Literal('database'),
  t.Literal('storage'),
  t.Literal('disk'),
  t.Literal('backup'),
  t.Literal('certificates'),
  t.Literal('webhooks'),
  t.Literal('mail'),
  t.Literal('retention'),
  t.Literal('previews'),
  t.Literal('cdn'),
  t.Literal('store'),
  t.Literal('standby'),
])

const finding = t.Object({
  name: checkName,
  status: t.Union([t.Literal('ok'), t.Literal('warn'), t.Literal('error'), t.Literal('off')]),
  message: t.String(),
  at: orNull(t.String()),
  value: orNull(t.Union([t.Number(), t.String()])),
})
export type HealthFinding = Static<typeof finding>

/** contract 16 §6. */
export const healthDetailsView = t.Object({
  status: t.Union([t.Literal('ok'), t.Literal('warn'), t.Literal('error')]),
  checks: t.Array(finding),
})
export type HealthDetails = Static<typeof healthDetailsView>
