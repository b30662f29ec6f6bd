import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'

export const explainQuery = t.Object({
  url: t.String({ error: 'The address to explain', examples: ['https://docs.example.com/api/users'] }),
  method: t.Optional(t.String({ pattern: '^[A-Za-z]{1,20}$', error: 'An HTTP method' })),
  as: t.Optional(t.Union([t.Literal('anonymous'), t.Literal('me')], { error: 'anonymous or me' })),
  accept: t.Optional(t.String({ maxLength: 500, error: 'What the Accept header says' })),
  // Read from the address itself: a list's values would be split at their commas.
  header: t.Optional(
    t.Unknown({ description: 'A further header, as Name: value, without credentials; may be repeated' }),
  ),
})

export const explainedView = t.Object({
  url: t.String(),
  method: t.String(),
  steps: t.Array(
    t.Object({
      step: t.String(),
      text: t.String(),
      detail: t.Optional(t.Record(t.String(), t.Unknown())),
    }),
  ),
  outcome: t.Object({
    kind: t.String(),
    status: orNull(t.Integer()),
    headers: t.Record(t.String(), t.String()),
    ruleId: orNull(t.String()),
    target: orNull(t.String()),
  }),
})
export type Explained = Static<typeof explainedView>
