import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { aboutDeployment } from '../deployments/service.ts'
import { contentOf, type ServeContent } from './content.ts'
import { compareFileQuery, compareQuery, comparisonView, contentQuery, fileComparisonView } from './model.ts'
import { compareDeployments, compareFile, filePatch } from './service.ts'

/** Two deployments of a project side by side. contract 17.4. */
export const compareRoutes = (ctx: Context, serve: ServeContent) => {
  const may = {
    action: 'admin:read',
    on: ({ params }: PathInput) => aboutDeployment(ctx, params['id']),
  } as const
  return new Elysia({ prefix: '/api/deployments', tags: ['Deployments'] })
    .use(guard(ctx))
    .get('/:id/compare', ({ grant, params, query }) => compareDeployments(ctx, grant, params.id, query), {
      may,
      query: compareQuery,
      response: comparisonView,
      detail: {
        summary: 'What differs from another deployment of the project, which `with` names',
        description:
          'By path. Whole deployments, whichever folder an alias shows. A file that was removed and one that was added ' +
          'with the same content are one that moved.',
      },
    })
    .get(
      '/:id/compare/file',
      async ({ grant, params, query }) =>
        query.format === 'patch'
          ? new Response(await filePatch(ctx, grant, params.id, query), { headers: PATCH_HEADERS })
          : compareFile(ctx, grant, params.id, query),
      {
        may,
        query: compareFileQuery,
        detail: {
          summary: 'What differs in a file; `format=patch` for `patch -p1`',
          description:
            'Of more than 2,000 lines that differ the rest may be one block. Files of more than 1 MiB or 20,000 lines have ' +
            'no hunks, and their patch is refused with 413.',
          responses: {
            200: {
              description: 'Success',
              content: {
                'application/json': { schema: fileComparisonView as object },
                'text/plain': { schema: { type: 'string' } },
              },
            },
          },
        },
      },
    )
    .get(
      '/:id/content',
      ({ grant, params, query, request }) => contentOf(ctx, serve, grant, params.id, query.path, request),
      {
        may,
        query: contentQuery,
        detail: {
          summary: 'The bytes of a file',
          description: 'With ETag and ranges. Everything but some kinds of images is an attachment.',
          responses: {
            200: {
              description: 'Success',
              content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
            },
          },
        },
      },
    )
}

const PATCH_HEADERS = { 'content-type': 'text/plain; charset=utf-8' }
