import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'
import { routingSummaryView } from '../deployments/routing/model.ts'

const status = t.Union([t.Literal('running'), t.Literal('complete'), t.Literal('failed')])
export type ReportStatus = Static<typeof status>

/** What an upload's answer says of the report: where it is and how far. contract 13 §7. */
export const reportSummaryView = t.Object({ status, url: t.String(), pageUrl: t.String() })
export type ReportSummary = Static<typeof reportSummaryView>

/** A finding as it is shown; `kind` and `severity` are those of `FINDING_KINDS`. */
export const findingView = t.Object({
  kind: t.String(),
  severity: t.Union([t.Literal('error'), t.Literal('warning'), t.Literal('info')]),
  file: orNull(t.String()),
  line: orNull(t.Number()),
  target: orNull(t.String()),
  message: t.String(),
})

/** What a publish did to the site. `bytes` are null until the contents are compressed; `kinds` counts the findings of each kind. */
export const reportView = t.Object({
  deploymentId: t.String(),
  status,
  comparedWith: orNull(t.Object({ alias: t.String(), deploymentId: t.String(), commitSha: t.String() })),
  files: t.Object({
    added: t.Number(),
    changed: t.Number(),
    removed: t.Number(),
    unchanged: t.Number(),
  }),
  paths: t.Array(
    t.Object({
      kind: t.Union([t.Literal('added'), t.Literal('changed'), t.Literal('removed')]),
      path: t.String(),
    }),
  ),
  bytes: t.Object({
    identity: orNull(t.Number()),
    br: orNull(t.Number()),
    zstd: orNull(t.Number()),
    gzip: orNull(t.Number()),
  }),
  routing: routingSummaryView,
  findings: t.Array(findingView),
  kinds: t.Record(t.String(), t.Number()),
  truncated: t.Boolean(),
  createdAt: t.String(),
  completedAt: orNull(t.String()),
})
export type ReportView = Static<typeof reportView>
