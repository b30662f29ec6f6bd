import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { getStorage } from './service.ts'

const count = t.Integer()

const storageView = t.Object({
  projects: t.Array(
    t.Object({
      projectId: t.String(),
      owner: t.String(),
      name: t.String(),
      deployments: count,
      files: t.Integer({ description: 'Of all deployments' }),
      bytes: t.Integer({ description: 'As published: what deployments share is counted in each' }),
      uniqueBytes: t.Integer({ description: 'Each content of the project once' }),
    }),
  ),
  contents: t.Integer({ description: 'Of the workspace, each once, with the compressed forms' }),
  contentBytes: count,
  diskBytes: t.Integer({ description: 'What the data directory takes on the disk' }),
  freeBytes: count,
  totalBytes: count,
  measuredAt: t.String(),
})

export const storageRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/storage', tags: ['Logs'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => getStorage(ctx, grant), {
      may: { action: 'workspace:administer' },
      response: storageView,
      detail: { summary: 'What each project stores, and what is left of the disk; at most a minute old' },
    })
