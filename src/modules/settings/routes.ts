import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { settingsPatchBody, settingsView } from './model.ts'
import { changeSettings, getSettings } from './service.ts'

export const settingsRoutes = (ctx: Context) => {
  const may = { action: 'workspace:administer' } as const
  return new Elysia({ prefix: '/api/settings', tags: ['Settings'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => getSettings(ctx, grant), {
      may,
      response: settingsView,
      detail: { summary: 'Settings of the workspace, each with where its value comes from' },
    })
    .patch('/', ({ grant, body }) => changeSettings(ctx, grant, body), {
      may,
      body: settingsPatchBody,
      response: settingsView,
      detail: { summary: 'Change settings; one that the environment fixes is a conflict' },
    })
}
