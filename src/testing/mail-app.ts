import { sendDueMails } from '../modules/notices/dispatch.ts'
import { ask } from './ask.ts'
import { type MailServer, mailServer } from './mail-server.ts'
import { type CallOptions, cookieHeader, PASSWORD, type TestApp, testApp } from './test-app.ts'

const ROOT = 'root@example.com'

/** An app with a mail server, and the global admin root@example.com. */
export type MailApp = {
  app: TestApp
  smtp: MailServer
  /** As the global admin. */
  call(method: string, path: string, json?: unknown): ReturnType<typeof ask>
  signIn(email: string, options?: CallOptions): Promise<{ setCookies: string[]; cookie: string }>
  /** Sends all that is due, and returns what arrived since the last call. */
  arrived(): Promise<MailServer['mails']>
  rows(): MailRow[]
  close(): Promise<void>
}

type MailRow = {
  notice: string
  address: string
  status: string
  error: string | null
  sealed: string | null
  nextTryAt: number | null
}

export async function mailApp(
  env: Record<string, string> = {},
  refusals: Parameters<typeof mailServer>[0] = {},
): Promise<MailApp> {
  const smtp = await mailServer(refusals)
  const app = await testApp({ SMTP_URL: smtp.url, ...env })
  await app.addUser(ROOT, 'admin')
  let seen = 0
  return {
    app,
    smtp,
    call: (method, path, json) =>
      ask(app, method, path, { as: ROOT, ...(json === undefined ? {} : { json }) }),
    async signIn(email, options = {}) {
      const json = { email, password: PASSWORD }
      const answer = await app.call('POST', '/api/auth/signin', { json, ...options })
      if (answer.status !== 200) throw new Error(await answer.text())
      return { setCookies: answer.headers.getSetCookie(), cookie: cookieHeader(answer) }
    },
    async arrived() {
      await sendDueMails(app.ctx)
      const fresh = smtp.mails.slice(seen)
      seen = smtp.mails.length
      return fresh
    },
    rows: () =>
      app.ctx.db.sqlite
        .query<MailRow, []>(
          'SELECT notice, address, status, error, sealed, next_try_at AS nextTryAt FROM mails ORDER BY seq',
        )
        .all(),
    async close() {
      app.close()
      await smtp.close()
    },
  }
}
