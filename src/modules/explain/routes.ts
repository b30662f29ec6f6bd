import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { type Explainer, explainAddress, parseUrl } from './service.ts'

const query = t.Object({
  url: t.String({ error: 'The address to explain', examples: ['https://docs.example.com/api/users'] }),
  method: t.Optional(t.String({ pattern: '^[A-Za-z]{1,20}$', error: 'An HTTP method' })),
  as: t.Optional(t.Union([t.Literal('anonymous'), t.Literal('me')], { error: 'anonymous or me' })),
  accept: t.Optional(t.String({ maxLength: 500, error: 'What the Accept header says' })),
})

const explanation = t.Object({
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
    status: t.Union([t.Integer(), t.Null()]),
    headers: t.Record(t.String(), t.String()),
    ruleId: t.Union([t.String(), t.Null()]),
    target: t.Union([t.String(), t.Null()]),
  }),
})

export const explainRoutes = (ctx: Context, explainer: Explainer) => {
  const onUrl = {
    on: ({ query }: PathInput) => {
      const url = parseUrl(query['url'])
      return { projectId: url === null ? null : explainer.projectOf(url) }
    },
  }
  return new Elysia({ prefix: '/api/explain', tags: ['Sites'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, query: { url, method = 'GET', as = 'anonymous', accept = 'text/html' } }) =>
        explainAddress(ctx, explainer, grant, { url, method, as, headers: new Headers({ accept }) }),
      {
        may: { action: 'project:read', ...onUrl },
        query,
        response: explanation,
        detail: {
          summary: 'Why an address gets the answer that it gets',
          description:
            'Every decision on the way, told by the code that serves: host, project, traffic, each rule, visibility, gate, ' +
            'file or target. As an anonymous visitor, or with `as=me` as yourself. No backend is called.',
        },
      },
    )
}
