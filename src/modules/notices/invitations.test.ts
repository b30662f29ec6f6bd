import { afterEach, expect, test } from 'bun:test'
import { HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { ask } from '../../testing/ask.ts'
import { type MailApp, mailApp } from '../../testing/mail-app.ts'
import { PASSWORD, testApp } from '../../testing/test-app.ts'

/** contract 16 §5: mails of invitations. */
let mails: MailApp
afterEach(() => mails.close())

async function withProject(env: Record<string, string> = {}): Promise<string> {
  mails = await mailApp(env)
  const made = await mails.call('POST', '/api/projects', { owner: 'acme', name: 'docs', displayName: 'Docs' })
  return `/api/projects/${made.body['id']}/invitations`
}
const invite = (path: string, email: string) => mails.call('POST', path, { email, role: 'viewer' })

test('to a project: the answer has the link and says so, and the mail has the same link', async () => {
  const path = await withProject()
  const { status, body } = await invite(path, 'new@example.com')
  expect([status, body['mail']]).toEqual([201, 'queued'])
  expect(mails.smtp.mails).toEqual([])
  const url = String(body['url'])
  const stored = JSON.stringify(mails.app.ctx.db.sqlite.query('SELECT * FROM mails').all())
  expect(stored).not.toContain(url.split('token=')[1])
  const [mail, ...others] = await mails.arrived()
  expect(others).toEqual([])
  expect(mail?.to).toEqual(['new@example.com'])
  expect(mail?.text).toContain(url)
  expect(url).toStartWith(`${mails.app.ctx.adminUrl()}/`)
  expect(mail?.text).toContain('root@example.com invites you to acme/docs, as viewer')
  expect(mail?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
  expect(mail?.raw).toMatch(/^Content-Type: text\/plain/m)
  expect(mail?.raw).not.toMatch(/<img|text\/html|multipart/i)
  expect(mails.rows()).toMatchObject([{ notice: 'invitation', status: 'sent', sealed: null, error: null }])
})

test('a new account without a password gets one, and one with a password does not', async () => {
  await withProject()
  const { status, body } = await mails.call('POST', '/api/users', { email: 'ann@example.com' })
  expect([status, body['mail']]).toEqual([201, 'queued'])
  const other = await mails.call('POST', '/api/users', { email: 'bob@example.com', password: PASSWORD })
  expect([other.status, 'mail' in other.body]).toEqual([201, false])
  const sent = await mails.arrived()
  expect(sent.map(({ to }) => to)).toEqual([['ann@example.com']])
  expect(sent[0]?.text).toContain(String(body['inviteUrl']))
})

test('somebody with an account becomes a member at once, and gets none', async () => {
  const path = await withProject()
  await mails.app.addUser('ann@example.com')
  const { body } = await invite(path, 'ann@example.com')
  expect([body['status'], 'mail' in body]).toEqual(['accepted', false])
  expect(mails.rows()).toEqual([])
})

test('what is refused is not mailed', async () => {
  const path = await withProject()
  expect((await mails.call('POST', path, { email: 'new@example.com', role: 'owner' })).status).toBe(400)
  expect((await mails.call('POST', '/api/users', { email: 'root@example.com' })).status).toBe(409)
  expect(mails.rows()).toEqual([])
})

test('without a mail server both answers say so, with the link', async () => {
  await withProject()
  const app = await testApp()
  await app.addUser('root@example.com', 'admin')
  const call = (path: string, json: unknown) => ask(app, 'POST', path, { as: 'root@example.com', json })
  const project = await call('/api/projects', { owner: 'acme', name: 'docs', displayName: 'Docs' })
  const invited = await call(`/api/projects/${project.body['id']}/invitations`, {
    email: 'new@example.com',
    role: 'viewer',
  })
  expect(invited.body).toMatchObject({ mail: 'not_configured', url: expect.stringContaining('token=') })
  const made = await call('/api/users', { email: 'ann@example.com' })
  expect(made.body).toMatchObject({ mail: 'not_configured', inviteUrl: expect.stringContaining('token=') })
  expect(app.ctx.db.sqlite.query('SELECT 1 FROM mails').all()).toEqual([])
  app.close()
})

test('an address gets five an hour, however they come; the link stays in the answer', async () => {
  const path = await withProject()
  const answers: unknown[] = []
  for (let i = 0; i < 6; i += 1) answers.push((await invite(path, 'New@Example.com')).body['mail'])
  expect(answers).toEqual([...Array(5).fill('queued'), 'limited'])
  const account = await mails.call('POST', '/api/users', { email: 'new@example.com' })
  expect(account.body['mail']).toBe('limited')
  expect(String(account.body['inviteUrl'])).toContain('token=')
  expect((await invite(path, 'other@example.com')).body['mail']).toBe('queued')
  mails.app.advance(HOUR_MS - MINUTE_MS)
  expect((await mails.call('DELETE', `/api/users/${account.body['id']}`)).status).toBe(204)
  expect((await invite(path, 'new@example.com')).body['mail']).toBe('limited')
  mails.app.advance(MINUTE_MS)
  expect((await invite(path, 'new@example.com')).body['mail']).toBe('queued')
})

test('one that was revoked, replaced or is of a deleted account is not mailed any more', async () => {
  const path = await withProject()
  const revoked = await invite(path, 'revoked@example.com')
  expect((await mails.call('DELETE', `${path}/${revoked.body['id']}`)).status).toBe(204)
  const replaced = await invite(path, 'replaced@example.com')
  const latest = await invite(path, 'replaced@example.com')
  const account = await mails.call('POST', '/api/users', { email: 'gone@example.com' })
  await mails.call('DELETE', `/api/users/${account.body['id']}`)
  const sent = await mails.arrived()
  expect(sent.map(({ to }) => to)).toEqual([['replaced@example.com']])
  expect(sent[0]?.text).toContain(String(latest.body['url']))
  expect(sent[0]?.text).not.toContain(String(replaced.body['url']))
  expect(mails.rows().every(({ sealed }) => sealed === null)).toBe(true)
})

test('one to a deleted project is not mailed any more', async () => {
  const path = await withProject()
  await invite(path, 'new@example.com')
  expect((await mails.call('DELETE', path.replace('/invitations', ''))).status).toBe(204)
  expect(await mails.arrived()).toEqual([])
  expect(mails.rows()).toMatchObject([{ status: 'failed', sealed: null }])
})
