import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { downloadNew, downloadStored } from './download.ts'
import { backupsView, backupView, proofBody } from './model.ts'
import { listBackups, makeBackup } from './service.ts'

/** A backup holds every secret of the workspace: to fetch one, the person signs in again. contract 17.8. */
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
    .post('/download', ({ grant, body, request }) => downloadNew(ctx, grant, body ?? {}, request), {
      may: { action: 'workspace:administer' },
      body: t.Optional(proofBody),
      detail: {
        summary: 'Make a backup and download it; svc restore takes it',
        description:
          'Needs no setting. Asks for the password, and the code of the second step if there is one.',
        responses: DOWNLOADED,
      },
    })
    .post(
      '/:name/download',
      ({ grant, params, body }) => downloadStored(ctx, grant, params.name, body ?? {}),
      {
        may: { action: 'workspace:administer' },
        body: t.Optional(proofBody),
        detail: { summary: 'Download one of the backups in BACKUP_DIR', responses: DOWNLOADED },
      },
    )

const DOWNLOADED = {
  200: {
    description: 'The backup, as an attachment',
    content: { 'application/octet-stream': { schema: { type: 'string' as const, format: 'binary' } } },
  },
}
