import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { noticesBody, noticesView, testMailBody, testMailView } from './model.ts'
import { changeNotices, getNotices } from './service.ts'
import { sendTestMail } from './test-mail.ts'

/** What the signed-in person is mailed about. */
export const noticeRoutes = (ctx: Context) => {
  const may = { action: 'account:use' } as const
  return new Elysia({ prefix: '/api/account/notices', tags: ['Account'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => getNotices(ctx, grant), {
      may,
      response: noticesView,
      detail: { summary: 'The mail notices that can reach you, and which are on' },
    })
    .patch('/', ({ grant, body }) => changeNotices(ctx, grant, body), {
      may,
      body: noticesBody,
      response: noticesView,
      detail: { summary: 'Turn mail notices on or off, by their ids' },
    })
}

export const mailTestRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/settings/mail', tags: ['Settings'] })
    .use(guard(ctx))
    .post('/test', ({ grant, body }) => sendTestMail(ctx, grant, body?.to), {
      may: { action: 'workspace:administer' },
      body: testMailBody,
      response: testMailView,
      detail: { summary: 'Send a test mail, to yourself or to `to`, and wait for the mail server' },
    })
