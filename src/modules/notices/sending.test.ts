import { afterEach, expect, test } from 'bun:test'
import { DAY_MS, WEEK_MS } from '../../domain/durations.ts'
import { type MailApp, mailApp } from '../../testing/mail-app.ts'
import { until } from '../../testing/until.ts'
import { failMails, sendDueMails, startMailing } from './dispatch.ts'
import { removeOldMails } from './upkeep.ts'

/** What becomes of mails when the mail server is not as it should be. contract 16 §5. */
let mails: MailApp
afterEach(() => mails.close())

const invite = async (email: string): Promise<string> => {
  const { status, body } = await mails.call('POST', '/api/users', { email })
  expect([status, body['mail']]).toEqual([201, 'queued'])
  return String(body['inviteUrl']).split('token=')[1] ?? ''
}
/** Sends what is due now and after each of the given waits, in seconds. */
async function sendAfter(...waits: number[]): Promise<void> {
  await sendDueMails(mails.app.ctx)
  for (const seconds of waits) {
    mails.app.advance(seconds * 1100)
    await sendDueMails(mails.app.ctx)
  }
}
const seenAnywhere = (secret: string): boolean => {
  const { sqlite } = mails.app.ctx.db
  const stored = JSON.stringify([
    sqlite.query('SELECT * FROM mails').all(),
    sqlite.query('SELECT * FROM audit_log').all(),
  ])
  return stored.includes(secret) || mails.app.lines.join('\n').includes(secret)
}

test('down: five tries with the waits of webhooks, then it is given up and its text goes', async () => {
  mails = await mailApp({ SMTP_URL: 'smtp://127.0.0.1:1', LOG_LEVEL: 'info' })
  const token = await invite('ann@example.com')
  const { ctx } = mails.app
  const at = ctx.now()
  await sendAfter()
  const [row] = mails.rows()
  expect(row).toMatchObject({ status: 'pending', error: expect.stringContaining('did not accept') })
  const wait = (row?.nextTryAt ?? 0) - at
  expect(wait).toBeGreaterThanOrEqual(10_000)
  expect(wait).toBeLessThanOrEqual(11_000)
  await sendAfter(10, 60, 600)
  expect(mails.rows()).toMatchObject([{ status: 'pending' }])
  await sendAfter(3600)
  expect(mails.rows()).toMatchObject([{ status: 'failed', sealed: null, nextTryAt: null }])
  expect(seenAnywhere(token)).toBe(false)
  expect(mails.app.lines.join()).toContain('a mail was given up')
})

test('it comes back: what waits is sent with a later try', async () => {
  let isAway = true
  mails = await mailApp({}, { ofMail: () => (isAway ? 'try later' : undefined) })
  await invite('ann@example.com')
  expect(await mails.arrived()).toEqual([])
  isAway = false
  expect(await mails.arrived()).toEqual([])
  mails.app.advance(11_000)
  expect((await mails.arrived()).map(({ to }) => to)).toEqual([['ann@example.com']])
})

test('it refuses one address: that one fails, and the others get theirs', async () => {
  mails = await mailApp({}, { ofAddress: (to) => (to.startsWith('bad') ? 'no such user' : undefined) })
  for (const name of ['ann', 'bad', 'carl']) await invite(`${name}@example.com`)
  const sent = (await mails.arrived()).map(({ to }) => to[0]).sort()
  expect(sent).toEqual(['ann@example.com', 'carl@example.com'])
  await sendAfter(10, 60, 600, 3600)
  expect(mails.rows().map(({ address, status }) => [address, status])).toEqual([
    ['ann@example.com', 'sent'],
    ['bad@example.com', 'failed'],
    ['carl@example.com', 'sent'],
  ])
  expect(mails.rows()[1]?.error).toContain('no such user')
})

test('attack: it quotes the link when it refuses the mail; the link is nowhere', async () => {
  mails = await mailApp(
    { LOG_LEVEL: 'debug' },
    { ofMail: ({ text }) => `spam: ${text.replace(/\s+/g, ' ')}` },
  )
  const token = await invite('ann@example.com')
  await sendAfter(10, 60, 600, 3600)
  expect(mails.rows()).toMatchObject([{ status: 'failed', error: expect.stringContaining('550') }])
  expect(seenAnywhere(token)).toBe(false)
  const health = await mails.call('GET', '/api/health/details')
  expect(JSON.stringify(health.body)).not.toContain(token)
})

test('it hangs: nobody waits, and what is under way at a stop is sent after the next start', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<string | undefined>()
  let asked = 0
  const ofMail = () => {
    asked += 1
    return asked <= 2 ? held : undefined
  }
  mails = await mailApp({}, { ofMail })
  const stop = startMailing(mails.app.ctx)
  for (const name of ['a', 'b', 'c']) await invite(`${name}@example.com`)
  await until('two mails are under way', () => asked === 2)
  await stop()
  expect(mails.rows().map(({ status }) => status)).toEqual(['pending', 'pending', 'pending'])
  release('too late')
})

test('header injection: an address with a line break, and names with one, add no header', async () => {
  mails = await mailApp()
  const evil = 'x\r\nBcc: evil@example.com\r\n\r\nHello'
  const refused = await mails.call('POST', '/api/users', {
    email: `ann@example.com\r\nBcc: evil@example.com`,
  })
  expect(refused.status).toBe(400)
  const hook = { name: evil, url: 'https://hooks.test/', events: ['*'] }
  const { ctx } = mails.app
  const made = await mails.call('POST', '/api/webhooks', hook)
  expect(made.status === 201 || made.status === 400).toBe(true)
  const { webhookFailing } = await import('./texts.ts')
  const { queueMail } = await import('./outbox.ts')
  const text = webhookFailing({ hook: evil, path: '/', error: evil }, ctx.adminUrl())
  queueMail(ctx, ctx.db.orm, { notice: 'webhookFailing', address: 'ann@example.com', userId: null }, text)
  const [mail] = await mails.arrived()
  expect(mail?.to).toEqual(['ann@example.com'])
  expect(mail?.raw).not.toMatch(/^Bcc:/im)
})

test('no server any more: what waits ends at the start, and is not sent years later', async () => {
  mails = await mailApp()
  await invite('ann@example.com')
  const { ctx } = mails.app
  failMails(ctx)
  expect(mails.rows()).toMatchObject([{ status: 'failed', sealed: null }])
  await invite('bob@example.com')
  mails.app.advance(WEEK_MS)
  expect(await mails.arrived()).toEqual([])
  expect(mails.rows()[1]).toMatchObject({ status: 'failed', error: 'too old', sealed: null })
})

test('what ended is kept 30 days, and what waits stays', async () => {
  mails = await mailApp()
  await invite('ann@example.com')
  await mails.arrived()
  mails.app.advance(29 * DAY_MS)
  await removeOldMails(mails.app.ctx)
  expect(mails.rows()).toHaveLength(1)
  await invite('bob@example.com')
  mails.app.advance(2 * DAY_MS)
  await removeOldMails(mails.app.ctx)
  expect(mails.rows()).toMatchObject([{ address: 'bob@example.com', status: 'pending' }])
})
