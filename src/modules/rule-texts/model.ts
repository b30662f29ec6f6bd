import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'
import { ruleView } from '../proxy-rules/model.ts'

export const ruleTextBody = t.Object({
  yaml: t.String({
    error: 'The rule as YAML',
    examples: ['pathPattern: /api/*\ntargetUrl: https://api.example.com\n'],
  }),
})

const {
  id: _,
  projectId,
  aliasId,
  ruleSetId,
  source,
  createdAt,
  updatedAt,
  order,
  ...settings
} = ruleView.properties

/** contract 17.5. `rule`: as the API takes it; null if it is too broken to tell. */
export const readRuleView = t.Object({
  ok: t.Boolean(),
  errors: t.Array(t.Object({ line: t.Integer(), column: t.Integer(), message: t.String() })),
  warnings: t.Array(t.String()),
  rule: orNull(t.Object({ ...settings, order: orNull(order) })),
})
export type ReadRuleView = Static<typeof readRuleView>

export const ruleExampleList = t.Object({
  examples: t.Array(
    t.Object({ id: t.String(), title: t.String(), description: t.String(), yaml: t.String() }),
  ),
})
export type RuleExample = Static<typeof ruleExampleList>['examples'][number]
