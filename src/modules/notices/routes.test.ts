import { afterEach, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { type MailApp, mailApp } from '../../testing/mail-app.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { seedMember } from '../../testing/seed-people.ts'
import { testApp } from '../../testing/test-app.ts'

/** contract 16 §5: the switches, and the test mail. */
const ROOT = 'root@example.com'

let mails: MailApp
afterEach(() => mails.close())

const noticesOf = async (as: string) =>
  (await ask(mails.app, 'GET', '/api/account/notices', { as })).body as {
    mailConfigured: boolean
    notices: { id: string; isOn: boolean }[]
  }
const idsOf = async (as: string) => (await noticesOf(as)).notices.map(({ id }) => id)
const change = (as: string, json: unknown) => ask(mails.app, 'PATCH', '/api/account/notices', { as, json })
const auditOf = (action: string) =>
  mails.app.ctx.db.sqlite
    .query<unknown, [string]>('SELECT before, after, target_name FROM audit_log WHERE action = ?')
    .values(action)

test('everybody sees those that can reach them', async () => {
  mails = await mailApp()
  const { projectId } = await seedDeployment(mails.app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    files: {},
  })
  const admin = await seedMember(mails.app, projectId, 'admin')
  const contributor = await seedMember(mails.app, projectId, 'contributor')
  expect(await idsOf(contributor)).toEqual(['newDevice'])
  expect(await idsOf(admin)).toEqual(['newDevice', 'webhookFailing'])
  const all = ['newDevice', 'backupFailed', 'certificateFailing', 'diskLow', 'webhookFailing']
  expect(await noticesOf(ROOT)).toEqual({
    mailConfigured: true,
    notices: all.map((id) => ({ id, isOn: true })),
  })
})

test('they are turned off and on; what is not named stays; the audit log has the change alone', async () => {
  mails = await mailApp()
  const { status, body } = await change(ROOT, { diskLow: false, backupFailed: true })
  expect(status).toBe(200)
  expect((body['notices'] as { id: string; isOn: boolean }[]).filter(({ isOn }) => !isOn)).toEqual([
    { id: 'diskLow', isOn: false },
  ])
  expect(auditOf('notice.change')).toEqual([['{"diskLow":true}', '{"diskLow":false}', ROOT]])
  await change(ROOT, { diskLow: false })
  await change(ROOT, {})
  expect(auditOf('notice.change')).toHaveLength(1)
  expect(await change(ROOT, { diskLow: true })).toMatchObject({ status: 200 })
  expect((await noticesOf(ROOT)).notices.every(({ isOn }) => isOn)).toBe(true)
})

test('one that there is not, that cannot reach the person or cannot be turned off is 400, and nothing changes', async () => {
  mails = await mailApp()
  await mails.app.addUser('ann@example.com')
  const refused: [as: string, json: unknown][] = [
    [ROOT, { nothing: false }],
    [ROOT, { invitation: false }],
    [ROOT, { constructor: false }],
    [ROOT, { diskLow: false, nothing: true }],
    [ROOT, { diskLow: 'false' }],
    [ROOT, { diskLow: null }],
    [ROOT, []],
    ['ann@example.com', { backupFailed: false }],
  ]
  for (const [as, json] of refused) expect([json, (await change(as, json)).status]).toEqual([json, 400])
  expect((await noticesOf(ROOT)).notices.every(({ isOn }) => isOn)).toBe(true)
})

test('without a mail server they are there, and it says so', async () => {
  mails = await mailApp()
  const app = await testApp()
  await app.addUser(ROOT, 'admin')
  const { body } = await ask(app, 'GET', '/api/account/notices', { as: ROOT })
  expect(body).toMatchObject({ mailConfigured: false, notices: { length: 5 } })
  const json = { diskLow: false }
  expect((await ask(app, 'PATCH', '/api/account/notices', { as: ROOT, json })).status).toBe(200)
  const refused = await ask(app, 'POST', '/api/settings/mail/test', { as: ROOT, json: {} })
  expect(refused).toMatchObject({ status: 409, body: { error: 'EMAIL_NOT_CONFIGURED' } })
  app.close()
})

test('they are for persons on the admin host', async () => {
  mails = await mailApp()
  await seedDeployment(mails.app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: {},
  })
  const host = 'production--docs--acme.localhost'
  const cookie = await mails.app.cookieOf(ROOT, host)
  for (const [method, path] of [
    ['GET', '/api/account/notices'],
    ['PATCH', '/api/account/notices'],
    ['POST', '/api/settings/mail/test'],
    ['GET', '/api/health/details'],
  ] as const) {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    const answer = await ask(mails.app, method, path, {
      host,
      headers,
      ...(method !== 'GET' && { json: {} }),
    })
    expect([path, answer.status, answer.body['error']]).toEqual([path, 403, 'ADMIN_HOST_ONLY'])
    expect((await ask(mails.app, method, path)).status).toBe(401)
  }
})

test('the test mail goes to the person, or to the address given, at once', async () => {
  mails = await mailApp()
  const own = await mails.call('POST', '/api/settings/mail/test')
  expect([own.status, own.body]).toEqual([200, { accepted: true, to: ROOT }])
  const other = await mails.call('POST', '/api/settings/mail/test', { to: ' Ann@Example.com ' })
  expect([other.status, other.body]).toEqual([200, { accepted: true, to: 'ann@example.com' }])
  expect(mails.smtp.mails.map(({ to }) => to)).toEqual([[ROOT], ['ann@example.com']])
  expect(mails.smtp.mails[0]?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
  expect(auditOf('mail.test')).toEqual([
    [null, '{"accepted":true}', ROOT],
    [null, '{"accepted":true}', 'ann@example.com'],
  ])
  for (const to of ['nobody', 'a@b.c\r\nBcc: x@y.z', '', 7])
    expect([to, (await mails.call('POST', '/api/settings/mail/test', { to })).status]).toEqual([to, 400])
})

test('a refusal is 502 with the reason of the mail server, without its password', async () => {
  const password = 'hunter2-secret'
  const encoded = Buffer.from(`\0svc\0${password}`).toString('base64')
  mails = await mailApp({}, { ofAddress: () => `not you, svc ${password} ${encoded}`, ofMail: () => 'x' })
  const url = mails.smtp.url.replace('//', `//svc:${password}@`)
  const app = await testApp({ SMTP_URL: url, LOG_LEVEL: 'debug' })
  await app.addUser(ROOT, 'admin')
  const refused = await ask(app, 'POST', '/api/settings/mail/test', { as: ROOT, json: {} })
  expect(refused.status).toBe(502)
  const everything = JSON.stringify([
    refused.body,
    app.lines,
    app.ctx.db.sqlite.query('SELECT * FROM audit_log').all(),
  ])
  expect(everything).not.toContain(password)
  expect(everything).not.toContain(encoded)
  app.close()
  const plain = await mails.call('POST', '/api/settings/mail/test')
  expect(plain.status).toBe(502)
  expect(String(plain.body['message'])).toContain('not you')
  expect(auditOf('mail.test')).toEqual([[null, '{"accepted":false}', ROOT]])
})

test('no server at all is 502, too', async () => {
  mails = await mailApp({ SMTP_URL: 'smtp://127.0.0.1:1' })
  const { status, body } = await mails.call('POST', '/api/settings/mail/test', {})
  expect([status, body['error']]).toEqual([502, 'Bad Gateway'])
  expect(String(body['message'])).toMatch(/ECONNREFUSED|connect/)
})

test('the metrics count mails, and failed backups', async () => {
  mails = await mailApp({}, { ofAddress: (to) => (to.startsWith('bad') ? 'no' : undefined) })
  await mails.call('POST', '/api/users', { email: 'ann@example.com' })
  await mails.call('POST', '/api/users', { email: 'bad@example.com' })
  const metrics = async () => (await mails.app.call('GET', '/metrics')).text()
  expect(await metrics()).toContain('svc_mail_pending 2\n')
  await mails.arrived()
  const text = await metrics()
  expect(text).toContain('svc_mail_pending 1\n')
  expect(text).toContain('svc_mails_total{result="sent"} 1\n')
  expect(text).toContain('svc_mails_total{result="failed"} 0\n')
  expect(text).toContain('svc_backup_failures_total 0\n')
})
