import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

/** The page `/device`, that `svc login` leads to. contract 16 §7. */
let app: TestApp
let browser: Browser

beforeEach(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
})
afterEach(() => app.close())

type Codes = { device_code: string; user_code: string }

async function ask(clientName = 'laptop'): Promise<Codes> {
  const answer = await app.call('POST', '/api/auth/device/code', { json: { clientName }, from: '192.0.2.9' })
  return (await answer.json()) as Codes
}
async function outcome({ device_code }: Codes): Promise<unknown> {
  const json = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code }
  const answer = await app.call('POST', '/api/auth/device/token', { json })
  const body = (await answer.json()) as Record<string, unknown>
  return body['error'] ?? body['token_type']
}
const submit = (fields: Record<string, string>, as = ADMIN) => browser.submit('/device', fields, { as })

test('whoever is not signed in is led there and back', async () => {
  expect(redirectOf(await browser.open('/device?code=BCDF-GHJK'))).toEqual([
    303,
    '/signin?redirect=%2Fdevice%3Fcode%3DBCDF-GHJK',
  ])
})

test('a link decides nothing: the page shows who asks, and wants a click', async () => {
  const codes = await ask('<b>laptop</b>')
  const shown = await browser.open(`/device?code=${codes.user_code.toLowerCase()}`, { as: ADMIN })
  const text = await shown.text()
  for (const part of [codes.user_code, '&lt;b>laptop&lt;/b>', '192.0.2.9', '20 Nov 2026, 12:00 UTC', ADMIN])
    expect(text).toContain(part)
  expect(shown.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(await outcome(codes)).toBe('authorization_pending')
})

test('a code that was typed leads to its page; one that is unknown says so', async () => {
  expect(redirectOf(await submit({ intent: 'look', userCode: ' bcdf ghjk' }))).toEqual([
    303,
    '/device?code=BCDF-GHJK',
  ])
  const unknown = await browser.open('/device?code=BCDF-GHJK', { as: ADMIN })
  expect([unknown.status, (await unknown.text()).includes('This code is unknown')]).toEqual([404, true])
})

test.each([
  ['approve', 'It is let in', 'Bearer'],
  ['deny', 'It is refused', 'access_denied'],
])('%s', async (intent, says, expected) => {
  const codes = await ask()
  const answer = await submit({ intent, userCode: codes.user_code })
  expect([answer.status, (await answer.text()).includes(says)]).toEqual([200, true])
  expect((await submit({ intent, userCode: codes.user_code })).status).toBe(404)
  expect(await outcome(codes)).toBe(expected)
})

test('attack: a form of another site lets nobody in', async () => {
  const codes = await ask()
  const fields = { intent: 'approve', userCode: codes.user_code }
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  expect((await browser.submit('/device', fields, { as: ADMIN, headers })).status).toBe(403)
  expect(await outcome(codes)).toBe('authorization_pending')
})

test('the account shows the session by its name, and ends it', async () => {
  const codes = await ask('Ann’s laptop')
  await submit({ intent: 'approve', userCode: codes.user_code })
  await outcome(codes)
  const account = await (await browser.open('/account', { as: ADMIN })).text()
  expect(account).toMatch(/Ann’s laptop\s+<span[^>]*>Command line</)
  expect(account).toContain('aria-label="Revoke Ann’s laptop, last seen from')
})
