import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { explainedView, explainQuery } from './model.ts'
import { type Explainer, explainAddress, parseUrl, sampleHeaders } from './service.ts'

export const explainRoutes = (ctx: Context, explainer: Explainer) => {
  const onUrl = {
    on: ({ query }: PathInput) => {
      const url = parseUrl(query['url'])
      return { projectId: url === null ? null : explainer.projectOf(url) }
    },
  }
  return new Elysia({ prefix: '/api/explain', tags: ['Sites'] }).use(guard(ctx)).get(
    '/',
    ({ grant, request, query: { url, method = 'GET', as = 'anonymous', accept = 'text/html' } }) => {
      const headers = sampleHeaders(accept, new URL(request.url).searchParams.getAll('header'))
      return explainAddress(ctx, explainer, grant, { url, method, as, headers })
    },
    {
      may: { action: 'project:read', ...onUrl },
      query: explainQuery,
      response: explainedView,
      detail: {
        summary: 'Why an address gets its response',
        description:
          'Every decision, reported by the code that serves: host, project, traffic, each rule, visibility, gate, ' +
          'file or target. As an anonymous visitor, or with `as=me` as yourself. No backend is called.',
      },
    },
  )
}
