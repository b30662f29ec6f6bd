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
      detail: { summary: 'What each project stores, and what is left of the disk; at most a minute old' },
    })
