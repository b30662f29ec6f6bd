import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { backupsView, backupView } from './model.ts'
import { listBackups, makeBackup } from './service.ts'

/** A backup holds every secret of the workspace. The API makes and lists them; to fetch one, use the machine itself. */
export const backupRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/backups', tags: ['Backups'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => listBackups(ctx, grant), {
      may: { action: 'workspace:administer' },
      response: backupsView,
      detail: { summary: 'The backups in BACKUP_DIR, newest first, and how the last one went' },
    })
    .post(
      '/',
      async ({ grant, status }) => {
        const made = await makeBackup(ctx, grant)
        return made === undefined ? status(202, { running: true } as const) : status(201, made)
      },
      {
        may: { action: 'workspace:administer' },
        response: { 201: backupView, 202: t.Object({ running: t.Literal(true) }) },
        detail: { summary: 'Make a backup now; 202 when it takes over half a minute and goes on by itself' },
      },
    )
