import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { machinesView } from './model.ts'
import { getMachines } from './service.ts'

export const machineRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/machines', tags: ['Setup and health'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => getMachines(ctx, grant), {
      may: { action: 'workspace:administer' },
      response: machinesView,
      detail: {
        summary: 'The machines that serve this workspace, and the object store that they share',
        description:
          'Stand-bys and nodes report every 10 seconds where `NODE_SECRET` is set; one that is silent is listed for an hour. Without an object store there is one machine and `store` is null. What the store holds is null until it was counted.',
      },
    })
