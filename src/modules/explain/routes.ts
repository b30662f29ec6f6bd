import { Elysia, t } from 'elysia'
import type { Caller, Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import type { Grant } from '../auth/authorize.ts'
import { passesGate } from '../auth/caller.ts'
import { guard, type PathInput } from '../auth/guard.ts'

type Explained = {
  url: string
  method: string
  steps: { step: string; text: string; detail?: Record<string, unknown> }[]
  outcome: {
    kind: string
    status: number | null
    headers: Record<string, string>
    ruleId: string | null
    target: string | null
  }
}

/** The site engine, as far as this module may know it: floors below do not import it. */
export type Explainer = {
  projectOf(url: URL): string | null
  explain(input: {
    url: URL
    method: string
    headers: Headers
    caller: (site: Caller['site']) => Caller
  }): Promise<Explained>
}

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
  return new Elysia({ prefix: '/api/explain', tags: ['Sites'] }).use(guard(ctx)).get(
    '/',
    ({ grant, query: { url, method = 'GET', as = 'anonymous', accept = 'text/html' } }) =>
      explainer.explain({
        url: parseUrl(url) ?? unknownAddress(),
        method: method.toUpperCase(),
        headers: new Headers({ accept }),
        caller: (site) => visitorAt(ctx, grant, as, site),
      }),
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

/** The caller as it would be on that host, where the membership gate may make it nobody. */
function visitorAt(ctx: Context, { caller }: Grant, as: 'anonymous' | 'me', site: Caller['site']): Caller {
  const { actor } = caller
  const nobody = { kind: 'anonymous', ip: actor.kind === 'operator' ? '' : actor.ip } as const
  if (as === 'anonymous') return { actor: nobody, site, refused: null }
  if (actor.kind === 'user' && !passesGate(ctx, site, actor.user.id))
    return { actor: nobody, site, refused: actor.user }
  return { actor, site, refused: null }
}

function parseUrl(text: string | undefined): URL | null {
  if (text === undefined || !URL.canParse(text)) return null
  const url = new URL(text)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : null
}

function unknownAddress(): never {
  throw new AppError('not_found', 'Nothing of yours lives at this address')
}
