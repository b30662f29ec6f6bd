import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { storageView } from './model.ts'
import { getStorage } from './service.ts'

export const storageRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/storage', tags: ['Logs'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => getStorage(ctx, grant), {
      may: { action: 'workspace:administer' },
      response: storageView,
      detail: { summary: 'Storage of each project, and free disk space; at most a minute old' },
    })
