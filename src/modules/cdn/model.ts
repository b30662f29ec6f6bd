import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'

export const cdnView = t.Object({
  kind: orNull(
    t.Union([t.Literal('varnish'), t.Literal('fastly'), t.Literal('cloudflare'), t.Literal('webhook')]),
  ),
  pending: t.Number({ description: 'Purges that wait: to be sent, or to be sent again' }),
  failing: t.Number({ description: 'Those among them whose last try failed' }),
  lastPurge: orNull(
    t.Object({
      at: t.String(),
      keys: t.Array(t.String()),
      status: orNull(t.Number({ description: 'The status of the answer; null if there was none' })),
    }),
  ),
})
export type CdnView = Static<typeof cdnView>

export const purgedView = t.Object({ keys: t.Array(t.String()) })
export type Purged = Static<typeof purgedView>
