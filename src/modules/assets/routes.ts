import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { withContents } from '../../platform/blob-store.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { assetView } from '../deployments/model.ts'
import { aboutAsset, deleteAsset, getAsset } from '../deployments/service.ts'

export const assetRoutes = (ctx: Context) => {
  const onAsset = { on: ({ params }: PathInput) => aboutAsset(ctx, params['id']) }
  return new Elysia({ prefix: '/api/assets', tags: ['Assets'] })
    .use(guard(ctx))
    .get('/:id', ({ grant, params }) => getAsset(ctx, grant, params.id), {
      may: { action: 'project:read', ...onAsset },
      response: assetView,
      detail: { summary: 'A file of a deployment by id' },
    })
    .delete(
      '/:id',
      async ({ grant, params, status }) => {
        await withContents(ctx, () => deleteAsset(ctx, grant, params.id))
        return status(204, undefined)
      },
      {
        may: { action: 'deployment:delete', ...onAsset },
        response: { 204: t.Undefined() },
        detail: { summary: 'Take a file out of its deployment' },
      },
    )
}
