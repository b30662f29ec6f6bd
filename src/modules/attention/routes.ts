import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { attentionView, projectAttentionView } from './model.ts'
import { attentionOf, listAttention } from './service.ts'

/** contract 17.7. */
export const attentionRoutes = (ctx: Context) =>
  new Elysia({ tags: ['Attention'] })
    .use(guard(ctx))
    .get('/api/attention', async ({ grant }) => ({ items: await listAttention(ctx, grant) }), {
      may: { action: 'admin:list' },
      response: attentionView,
      detail: { summary: 'What needs attention in the projects that you may see, errors first' },
    })
    .get(
      '/api/projects/:id/attention',
      ({ grant, params }) =>
        belowOrProject(ctx, grant, params.id, () => ({ items: attentionOf(ctx, grant) })),
      {
        may: mayBelow(ctx, 'attention', 'admin:read'),
        response: projectAttentionView,
        detail: { summary: 'What needs attention in the project, errors first' },
      },
    )
