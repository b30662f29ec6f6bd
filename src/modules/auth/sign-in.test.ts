import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { RequestFacts } from '../../context.ts'
import { totpCodeAt } from '../../platform/totp.ts'
import { ask } from '../../testing/ask.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { wrongCode } from '../../testing/wrong-code.ts'
import { beginSignIn, completeMfa, mfaTicketEmail } from './sign-in.ts'

const EMAIL = 'mia@example.com'
const credentials = { email: EMAIL, password: PASSWORD }

let app: TestApp
let secret: string

const originAt = (ip: string) => {
  const facts: RequestFacts = {
    ip,
    isSecure: false,
    host: 'localhost',
    hostWithPort: 'localhost',
    site: null,
    isDirectLoopback: false,
    peerAddress: ip,
    isBehindProxy: false,
    forwardedFor: null,
  }
  return { facts, userAgent: 'test', devices: [] }
}
const HERE = originAt('127.0.0.1')

beforeAll(async () => {
  app = await testApp()
  await app.addUser('bob@example.com')
  await app.addUser(EMAIL)
  const as = EMAIL
  secret = String((await ask(app, 'POST', '/api/account/mfa/totp', { as })).body['secret'])
  await ask(app, 'POST', '/api/account/mfa/totp/confirm', { as, json: { code: await code() } })
})
afterAll(() => app.close())

const code = () => totpCodeAt(secret, app.ctx.now())

async function ticket(): Promise<string> {
  const step = await beginSignIn(app.ctx, credentials, HERE)
  if (step.step !== 'mfa') throw new Error('no second step')
  return step.mfaTicket
}

const refusal = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'let in',
    (error: { code: string }) => error.code,
  )

describe('signing in in two steps', () => {
  test('without a second step, the first one is enough', async () => {
    const step = await beginSignIn(app.ctx, { ...credentials, email: 'bob@example.com' }, HERE)
    expect(step).toMatchObject({ step: 'done', user: { email: 'bob@example.com' } })
  })

  test('the ticket contains nothing of the password, and the code completes the sign-in once', async () => {
    app.advance(30_000)
    const mfaTicket = await ticket()
    expect(mfaTicket).toMatch(/^[\w-]{43}$/)
    expect(mfaTicketEmail(app.ctx, mfaTicket, HERE)).toBe(EMAIL)
    const done = await completeMfa(app.ctx, { mfaTicket, code: await code() }, HERE)
    expect(done.setCookies).toHaveLength(2)
    app.advance(30_000)
    expect(await refusal(completeMfa(app.ctx, { mfaTicket, code: await code() }, HERE))).toBe(
      'MFA_TICKET_INVALID',
    )
  })

  test('after a wrong code the ticket may be used again', async () => {
    app.advance(30_000)
    const mfaTicket = await ticket()
    const badCode = await wrongCode(secret, app.ctx.now())
    const wrong = completeMfa(app.ctx, { mfaTicket, code: badCode }, HERE)
    expect(await refusal(wrong)).toBe('MFA_CODE_INVALID')
    expect((await completeMfa(app.ctx, { mfaTicket, code: await code() }, HERE)).user.email).toBe(EMAIL)
  })

  test('ten wrong codes lock the ticket too: then the right one is refused', async () => {
    app.advance(30_000)
    const there = originAt('198.51.100.7')
    const step = await beginSignIn(app.ctx, credentials, there)
    const mfaTicket = step.step === 'mfa' ? step.mfaTicket : ''
    const bad = { mfaTicket, code: await wrongCode(secret, app.ctx.now()) }
    for (let i = 0; i < 10; i++)
      expect(await refusal(completeMfa(app.ctx, bad, there))).toBe('MFA_CODE_INVALID')
    const right = completeMfa(app.ctx, { mfaTicket, code: await code() }, there)
    expect(await refusal(right)).toBe('Too Many Requests')
  })

  test('a stolen ticket is useless elsewhere, after five minutes, and after a new password', async () => {
    app.advance(30_000)
    const mfaTicket = await ticket()
    const elsewhere = completeMfa(app.ctx, { mfaTicket, code: await code() }, originAt('203.0.113.9'))
    expect(await refusal(elsewhere)).toBe('MFA_TICKET_INVALID')
    app.advance(5 * 60_000)
    expect(await refusal(completeMfa(app.ctx, { mfaTicket, code: await code() }, HERE))).toBe(
      'MFA_TICKET_INVALID',
    )
    const other = await ticket()
    app.ctx.db.sqlite.run('UPDATE users SET password_hash = ? WHERE email = ?', ['changed', EMAIL])
    const late = completeMfa(app.ctx, { mfaTicket: other, code: await code() }, HERE)
    expect(await refusal(late)).toBe('MFA_TICKET_INVALID')
  })
})
