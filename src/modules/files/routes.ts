import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { pageOf } from '../../http/pagination.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { projectView } from '../projects/model.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { deleteFile, deleteFolder, getFile, listFiles, requireFile } from './manage.ts'
import { deletedView, fileListQuery, fileView, folderQuery } from './model.ts'
import type { ServeDownload } from './service.ts'

/** contract 14.2. */
export const fileRoutes = (ctx: Context, serve: ServeDownload) => {
  const onProject = { on: ({ params }: PathInput) => aboutProject(ctx, params['id']) }
  const mayRead = { action: 'project:read', ...onProject } as const
  const mayRemove = { action: 'traffic:configure', ...onProject } as const
  return new Elysia({ prefix: '/api/projects/:id/files', tags: ['Files'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params, query }) => belowOrProject(ctx, grant, params.id, () => listFiles(ctx, grant, query)),
      {
        may: mayBelow(ctx, 'files', 'project:read'),
        query: fileListQuery,
        response: t.Union([pageOf(fileView), projectView]),
        detail: { summary: 'Files that pipelines and visitors stored in a project' },
      },
    )
    .delete(
      '/',
      async ({ grant, query }) => {
        const { deleted } = await deleteFolder(ctx, grant, query.prefix ?? '')
        return { deleted }
      },
      {
        may: mayRemove,
        query: folderQuery,
        response: deletedView,
        detail: { summary: 'Delete the files of a folder; records that name them stay' },
      },
    )
    .get('/:fileId', ({ grant, params }) => getFile(ctx, grant, params.fileId), {
      may: mayRead,
      response: fileView,
      detail: { summary: 'A file' },
    })
    .get(
      '/:fileId/content',
      ({ grant, params, request }) => serve(ctx, request, requireFile(ctx, grant, params.fileId)),
      {
        may: mayRead,
        detail: {
          summary: 'The bytes of a file, as an attachment',
          description: 'With ETag, conditions and ranges.',
          responses: {
            200: {
              description: 'Success',
              content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
            },
          },
        },
      },
    )
    .delete(
      '/:fileId',
      async ({ grant, params, status }) => {
        await deleteFile(ctx, grant, params.fileId)
        return status(204, undefined)
      },
      {
        may: mayRemove,
        response: { 204: t.Undefined() },
        detail: { summary: 'Delete a file; records that name it stay' },
      },
    )
}
