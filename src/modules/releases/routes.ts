import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { projectChecksView, releaseChecksBody, releaseChecksView } from './model.ts'
import { getReleaseChecks, removeReleaseChecks, setReleaseChecks } from './service.ts'

/** What an upload's alias must pass before it moves. contract 13 §8. */
export const releaseCheckRoutes = (ctx: Context) => {
  const may = {
    action: 'settings:manage',
    on: ({ params }: PathInput) => aboutProject(ctx, params['id']),
  } as const
  return new Elysia({ prefix: '/api/projects/:id/release-checks', tags: ['Projects'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params }) => belowOrProject(ctx, grant, params.id, () => getReleaseChecks(ctx, grant)),
      {
        may: mayBelow(ctx, 'release-checks', 'project:read'),
        response: projectChecksView,
        detail: { summary: 'What is checked before an upload moves an alias' },
      },
    )
    .put('/', ({ grant, body }) => setReleaseChecks(ctx, grant, body), {
      may,
      body: releaseChecksBody,
      response: releaseChecksView,
      detail: { summary: 'Set what is checked before an upload moves an alias' },
    })
    .delete(
      '/',
      ({ grant, status }) => {
        removeReleaseChecks(ctx, grant)
        return status(204, undefined)
      },
      { may, detail: { summary: 'Check nothing any more, but what a published .svc/checks.yaml says' } },
    )
}
