import { afterEach, expect, test } from 'bun:test'
import { DAY_MS } from '../../domain/durations.ts'
import { type HookApp, hookApp } from '../../testing/hook-app.ts'
import { type MailServer, mailServer } from '../../testing/mail-server.ts'
import { seedMember } from '../../testing/seed-people.ts'
import { until } from '../../testing/until.ts'
import { emptyRecord } from '../certificates/host-record.ts'
import { noteFailed } from '../certificates/notes.ts'
import { lookAtDisk } from '../storage/low-disk.ts'
import { tellOfBackup, watchForHooks } from '../webhooks/watch.ts'
import { sendDueMails } from './dispatch.ts'

/** contract 16 §5: what the admins are mailed about. */
let hooks: HookApp
let smtp: MailServer
const ROOT = 'root@example.com'
const SECOND = 'second@example.com'
/** Of the project. */
const OWNER = 'seed-owner@example.com'

async function setUp(env: Record<string, string> = {}): Promise<void> {
  smtp = await mailServer()
  hooks = await hookApp({ SMTP_URL: smtp.url, ...env })
  await hooks.app.addUser(SECOND, 'admin')
}
afterEach(async () => {
  await hooks.close()
  await smtp.close()
})

/** Who was mailed since the last call, and the subjects. */
async function mailed(): Promise<{ to: string[]; subjects: string[]; text: string }> {
  await sendDueMails(hooks.app.ctx)
  const mails = smtp.mails.splice(0)
  return {
    to: mails.map(({ to }) => String(to[0])).sort(),
    subjects: [...new Set(mails.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw)?.[1] ?? ''))],
    text: mails[0]?.text ?? '',
  }
}
const turnOff = async (email: string, notice: string) => {
  const json = { [notice]: false }
  expect((await hooks.app.call('PATCH', '/api/account/notices', { as: email, json })).status).toBe(200)
}

test('a backup that fails: every global admin, once a streak and day; without any webhook', async () => {
  await setUp({ BACKUP_DIR: '/dev/null/backups' })
  expect((await hooks.call('POST', '/api/backups')).status).toBe(500)
  const count = () => hooks.app.ctx.db.sqlite.query('SELECT 1 FROM mails').all().length
  await until('it is queued', () => count() === 2)
  const { to, subjects, text } = await mailed()
  expect([to, subjects]).toEqual([[ROOT, SECOND], ['A backup failed']])
  expect(text).toContain(`${hooks.app.ctx.adminUrl()}/admin/backups`)
  const { ctx } = hooks.app
  tellOfBackup(ctx, 'again', null)
  expect((await mailed()).to).toEqual([])
  hooks.app.advance(DAY_MS)
  tellOfBackup(ctx, 'still', null)
  expect((await mailed()).to).toEqual([ROOT, SECOND])
  hooks.app.advance(1000)
  tellOfBackup(ctx, 'a new streak', ctx.now())
  expect((await mailed()).to).toEqual([ROOT, SECOND])
})

test('a disk that is nearly full: once, and again only after it was ample; with or without a hook', async () => {
  await setUp({ MIN_FREE_DISK: '1000t' })
  const { ctx } = hooks.app
  lookAtDisk(ctx)
  lookAtDisk(ctx)
  const { to, subjects, text } = await mailed()
  expect([to, subjects]).toEqual([[ROOT, SECOND], ['The disk is nearly full']])
  expect(text).toContain(`${ctx.adminUrl()}/admin/storage`)
  expect((await hooks.call('GET', '/api/health/details')).body['checks']).toContainEqual(
    expect.objectContaining({ name: 'disk', status: 'error' }),
  )
  const { config } = ctx
  ctx.config = { ...config, minFreeDisk: 1 }
  lookAtDisk(ctx)
  ctx.config = config
  lookAtDisk(ctx)
  expect((await mailed()).to).toEqual([ROOT, SECOND])
})

test('whoever turned it off is left out', async () => {
  await setUp()
  await turnOff(SECOND, 'backupFailed')
  tellOfBackup(hooks.app.ctx, 'no space', null)
  expect((await mailed()).to).toEqual([ROOT])
})

test('a certificate: after the third failure, and with less than 14 days left, once a day and host', async () => {
  await setUp()
  const { ctx } = hooks.app
  const record = { ...emptyRecord('docs.example.com'), error: 'CAA\r\nforbids it' }
  const fail = (failures: number) =>
    noteFailed(ctx, { host: record.host, projectId: null }, { ...record, failures }, new Error('x'))
  fail(2)
  expect((await mailed()).to).toEqual([])
  fail(3)
  fail(4)
  const { to, subjects, text } = await mailed()
  expect([to, subjects]).toEqual([[ROOT, SECOND], ['No good certificate for docs.example.com']])
  expect(text).toContain('CAA forbids it')
  const expiresAt = ctx.now() + 13 * DAY_MS
  const all = () => [{ certPem: '', keyPem: '', expiresAt, hosts: ['a.example.com'] }]
  ctx.certificates = { ...ctx.certificates, all }
  await watchForHooks(ctx, { aborted: false })
  await watchForHooks(ctx, { aborted: false })
  expect((await mailed()).subjects).toEqual(['No good certificate for a.example.com'])
})

test('a webhook whose last three deliveries failed: once a day, and its project’s admins too', async () => {
  await setUp({ WEBHOOK_RETRY_SECONDS: '0,0,0,0' })
  const { projectId } = hooks.site
  const admin = await seedMember(hooks.app, projectId, 'admin')
  await seedMember(hooks.app, projectId, 'contributor')
  const hook = await hooks.make({ name: 'Team chat' })
  let status = 500
  hooks.receiver.answerWith((_request, response) => void response.writeHead(status).end())
  const ping = () => hooks.call('POST', `${hook.path}/test`)
  await ping()
  await ping()
  expect((await mailed()).to).toEqual([])
  status = 204
  await ping()
  status = 500
  await ping()
  await ping()
  expect((await mailed()).to).toEqual([])
  await ping()
  const { to, subjects, text } = await mailed()
  expect([to, subjects]).toEqual([[admin, ROOT, SECOND, OWNER], ['The webhook Team chat fails']])
  expect(text).toContain(`/projects/${projectId}/webhooks/${hook.id}`)
  expect(text).not.toContain('hooks.test')
  await ping()
  expect((await mailed()).to).toEqual([])
  hooks.app.advance(DAY_MS)
  await turnOff(admin, 'webhookFailing')
  await ping()
  expect((await mailed()).to).toEqual([ROOT, SECOND, OWNER])
  expect((await hooks.call('GET', '/api/health/details')).body['checks']).toContainEqual(
    expect.objectContaining({ name: 'webhooks', status: 'warn' }),
  )
})

test('of a webhook of the workspace only global admins are told', async () => {
  await setUp({ WEBHOOK_RETRY_SECONDS: '0,0,0,0' })
  await seedMember(hooks.app, hooks.site.projectId, 'admin')
  const hook = await hooks.make({}, '/api/webhooks')
  hooks.receiver.answerWith((_request, response) => void response.writeHead(500).end())
  for (let i = 0; i < 3; i += 1) await hooks.call('POST', `${hook.path}/test`)
  const { to, text } = await mailed()
  expect(to).toEqual([ROOT, SECOND])
  expect(text).toContain(`/admin/webhooks/${hook.id}`)
})

test('without a mail server nothing is written', async () => {
  await setUp({ SMTP_URL: '' })
  tellOfBackup(hooks.app.ctx, 'no space', null)
  expect(hooks.app.ctx.db.sqlite.query('SELECT 1 FROM mails').all()).toEqual([])
})
