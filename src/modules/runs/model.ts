import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'
import { pageQuery } from '../../http/pagination.ts'

export const runQuery = t.Object({
  ...pageQuery,
  ruleId: t.Optional(t.String()),
  status: t.Optional(t.String({ pattern: '^\\d{0,3}$', error: 'a status such as 500' })),
})

const textOrNull = orNull(t.String())

export const runView = t.Object({
  id: t.String({ format: 'uuid' }),
  ruleId: t.String(),
  ruleName: textOrNull,
  /** `post_steps`: failed after the response. */
  phase: t.Union([t.Literal('steps'), t.Literal('post_steps')]),
  pathPattern: t.String(),
  method: t.String(),
  path: t.String(),
  status: t.Integer(),
  durationMs: t.Number(),
  failedStep: textOrNull,
  error: textOrNull,
  steps: t.Unknown({
    description:
      "Each step's input and output while the rule is debugged; secrets are masked. Below project admin, those of a pipeline that names a secret are null, with `redacted: true`",
  }),
  startedAt: t.String(),
  /** What asked for it: a visitor, a schedule, or a tool call. */
  trigger: t.Union([t.Literal('request'), t.Literal('schedule'), t.Literal('mcp')]),
  scheduleId: textOrNull,
})
export type RunView = Static<typeof runView>
