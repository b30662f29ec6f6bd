import { t } from 'elysia'
import { orNull } from '../../../http/or-null.ts'

const problem = t.Object({ file: t.String(), line: t.Number(), message: t.String() })

/** What an upload's answer says of its routing files. contract 13 §7. */
export const routingSummaryView = t.Object({
  redirects: t.Number(),
  headers: t.Number(),
  refused: t.Number(),
  problems: t.Array(problem),
})

export const routingQuery = t.Object({ folder: t.Optional(t.String()) })

/** The routing that is in force in a folder of a deployment. */
export const routingView = t.Object({
  folder: t.String(),
  redirects: t.Array(
    t.Object({
      line: t.Number(),
      source: t.String(),
      query: t.Record(t.String(), t.String()),
      target: orNull(t.String()),
      status: t.Number(),
      force: t.Boolean(),
      conditions: t.Record(t.String(), t.Array(t.String())),
    }),
  ),
  headers: t.Array(
    t.Object({
      line: t.Number(),
      path: t.String(),
      set: t.Array(t.Object({ name: t.String(), value: t.String() })),
      unset: t.Array(t.String()),
    }),
  ),
  problems: t.Array(problem),
})
