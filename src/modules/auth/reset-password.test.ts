import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { type MailServer, mailServer } from '../../testing/mail-server.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'

const NEW = 'a better password'

let smtp: MailServer
let app: TestApp
/** Every mail that was given to the mail server, in the order of the requests. */
const given: { to: string; settled: Promise<void> }[] = []

beforeAll(async () => {
  smtp = await mailServer()
  app = await testApp({ SMTP_URL: smtp.url, SMTP_FROM: 'Sites <sites@example.com>' })
  const { send } = app.ctx.mail
  app.ctx.mail.send = (mail) => {
    const sent = send(mail)
    given.push({ to: mail.to.join(), settled: sent.catch(() => {}) })
    return sent
  }
  await app.addUser('root@example.com', 'admin')
  await app.addUser('ann@example.com')
  await app.addUser('last@example.com')
})
afterAll(async () => {
  app.ctx.mail.close()
  app.close()
  await smtp.close()
})
afterEach(() => app.advance(60 * 60 * 1000))

const forgot = (email: string, extra: { host?: string; headers?: Record<string, string> } = {}) =>
  ask(app, 'POST', '/api/auth/forgot-password', { json: { email }, ...extra })

const reset = (token: string, password = NEW, headers: Record<string, string> = {}) =>
  ask(app, 'POST', '/api/auth/reset-password', { json: { token, password }, headers })

const signIn = async (email: string, password: string) =>
  (await ask(app, 'POST', '/api/auth/signin', { json: { email, password } })).status

/** Signs in again each time: the clock of this test outlives sessions. */
async function asRoot(method: string, path: string, json?: unknown) {
  const signedIn = await app.call('POST', '/api/auth/signin', {
    json: { email: 'root@example.com', password: PASSWORD },
  })
  return ask(app, method, path, { headers: { cookie: cookieHeader(signedIn) }, json })
}

const linkIn = (text: string): string => /http\S+/.exec(text)?.[0] ?? ''
const tokenIn = (text: string): string => new URL(linkIn(text)).searchParams.get('token') ?? ''

/** The last request is sent last. Mails are sent independently, so one may arrive before an earlier one. */
async function mailedSince(before: number): Promise<string[]> {
  const start = given.length
  await forgot('last@example.com')
  await until('the last mail', () => given.slice(start).some(({ to }) => to === 'last@example.com'))
  await Promise.all(given.map(({ settled }) => settled))
  return smtp.mails
    .slice(before)
    .map(({ to }) => to.join())
    .filter((to) => to !== 'last@example.com')
}

describe('forgot-password', () => {
  test('mails a link, in plain text, from the configured sender', async () => {
    expect(await forgot(' Ann@Example.com ')).toEqual({ status: 200, body: { success: true } })
    const mail = await smtp.next()
    expect(mail.to).toEqual(['ann@example.com'])
    expect(mail.from).toBe('sites@example.com')
    expect(mail.raw).toContain('Content-Type: text/plain')
    expect(linkIn(mail.text)).toMatch(/^http:\/\/localhost:3000\/reset-password\?token=[\w-]{43}$/)
  })

  test('host-header poisoning: the link leads to the configured address whatever the request says', async () => {
    await forgot('ann@example.com', {
      host: '127.0.0.1',
      headers: {
        'x-forwarded-host': 'evil.example',
        forwarded: 'host=evil.example',
        origin: 'http://127.0.0.1',
      },
    })
    const mail = await smtp.next()
    expect(mail.raw).not.toContain('evil.example')
    expect(linkIn(mail.text)).toStartWith('http://localhost:3000/')
  })

  test('enumeration by text and time: an unknown email gets the same response, and nothing happens before it', async () => {
    await Promise.all(given.map(({ settled }) => settled))
    const before = smtp.mails.length
    const work = () => app.ctx.db.writes
    const told = async (email: string) => {
      const atStart = work()
      const answer = await app.call('POST', '/api/auth/forgot-password', { json: { email } })
      const writes = work() - atStart
      const text = await answer.text()
      await until('it is over', () => work() > atStart)
      return { status: answer.status, text, writes }
    }
    const unknown = await told('nobody@example.com')
    expect(unknown).toEqual(await told('ann@example.com'))
    expect(unknown.writes).toBe(0)
    expect(await mailedSince(before)).toEqual(['ann@example.com'])
  })

  test('enumeration by the time of the next request: an unknown email causes as many commits as a known one', async () => {
    const commits = async (email: string) => {
      const { writes } = app.ctx.db
      const before = smtp.mails.length
      await forgot(email)
      await mailedSince(before)
      return app.ctx.db.writes - writes
    }
    expect(await commits('nobody@example.com')).toBe(await commits('ann@example.com'))
  })

  test('no inbox is flooded: three mails per hour', async () => {
    const before = smtp.mails.length
    for (let i = 0; i < 5; i++) expect((await forgot('ann@example.com')).status).toBe(200)
    const mailed = await mailedSince(before)
    expect(mailed).toEqual(Array(3).fill('ann@example.com'))
  })

  test('a stranger who asks for mails does not end the link of an administrator', async () => {
    const made = await asRoot('POST', '/api/users', { email: 'hired@example.com' })
    const before = smtp.mails.length
    await forgot('hired@example.com')
    expect(await mailedSince(before)).toEqual(['hired@example.com'])
    expect((await reset(tokenIn(String(made.body['inviteUrl'])))).status).toBe(200)
    const mailed = smtp.mails.slice(before).find(({ to }) => to.join() === 'hired@example.com')
    expect((await reset(tokenIn(mailed?.text ?? ''))).status).toBe(400)
  })

  test('an account whose email looks like two addresses gets no mail at either', async () => {
    const id = await app.addUser('odd@example.com')
    app.ctx.db.sqlite.run("UPDATE users SET email = 'ann@example.com,x' WHERE id = ?", [id])
    const before = smtp.mails.length
    await forgot('ann@example.com,x')
    expect(await mailedSince(before)).toEqual([])
  })

  test('an invalid email is 400', async () => {
    expect((await forgot('ann')).status).toBe(400)
  })

  test('an unreachable mail server is logged, and the response is the same', async () => {
    const alone = await testApp({ SMTP_URL: 'smtp://127.0.0.1:1' })
    await alone.addUser('ann@example.com')
    const { status } = await ask(alone, 'POST', '/api/auth/forgot-password', {
      json: { email: 'ann@example.com' },
    })
    expect(status).toBe(200)
    await until('a line in the log', () => alone.lines.length > 0)
    expect(alone.lines.join()).toContain('could not be sent')
    expect(alone.lines.join()).not.toContain('token=')
    alone.close()
  })

  test('without a mail server the response is the same', async () => {
    const alone = await testApp()
    await alone.addUser('ann@example.com')
    const answer = await ask(alone, 'POST', '/api/auth/forgot-password', {
      json: { email: 'ann@example.com' },
    })
    expect(answer).toEqual({ status: 200, body: { success: true } })
    alone.close()
  })
})

describe('reset-password', () => {
  const linkFor = async (email: string): Promise<string> => {
    const users = await asRoot('GET', `/api/users?email=${email}`)
    const [user] = users.body['data'] as { id: string }[]
    const made = await asRoot('POST', `/api/users/${user?.id}/reset-link`)
    return tokenIn(String(made.body['url']))
  }

  test('sets the password once and ends every session', async () => {
    await app.addUser('bob@example.com')
    const cookie = await app.cookieOf('bob@example.com')
    await forgot('bob@example.com')
    const token = tokenIn((await nextTo('bob@example.com')).text)
    expect((await reset(token)).status).toBe(200)
    expect((await ask(app, 'GET', '/api/account', { headers: { cookie } })).status).toBe(401)
    expect(await signIn('bob@example.com', PASSWORD)).toBe(401)
    expect(await signIn('bob@example.com', NEW)).toBe(200)
    const again = await reset(token)
    expect([again.status, again.body['error']]).toEqual([400, 'RESET_TOKEN_INVALID'])
  })

  test('the session that brings the link is kept, if it is theirs', async () => {
    await app.addUser('carl@example.com')
    await app.addUser('dora@example.com')
    const carl = await app.cookieOf('carl@example.com')
    const dora = await app.cookieOf('dora@example.com')
    expect((await reset(await linkFor('carl@example.com'), NEW, { cookie: carl })).status).toBe(200)
    expect((await ask(app, 'GET', '/api/account', { headers: { cookie: carl } })).status).toBe(200)
    expect((await reset(await linkFor('carl@example.com'), NEW, { cookie: dora })).status).toBe(200)
    expect((await ask(app, 'GET', '/api/account', { headers: { cookie: carl } })).status).toBe(401)
    expect((await ask(app, 'GET', '/api/account', { headers: { cookie: dora } })).status).toBe(200)
  })

  test('it ends the lockout of the requesting address', async () => {
    await app.addUser('lou@example.com')
    for (let i = 0; i < 10; i++) await signIn('lou@example.com', 'not this one')
    expect(await signIn('lou@example.com', PASSWORD)).toBe(429)
    expect((await reset(await linkFor('lou@example.com'))).status).toBe(200)
    expect(await signIn('lou@example.com', NEW)).toBe(200)
  })

  test('it expires after an hour, and a bad password does not use it up', async () => {
    const token = await linkFor('ann@example.com')
    expect((await reset(token, 'short')).status).toBe(400)
    app.advance(60 * 60 * 1000 - 1)
    expect((await reset(token)).status).toBe(200)
    const late = await linkFor('ann@example.com')
    app.advance(60 * 60 * 1000)
    expect((await reset(late)).body['error']).toBe('RESET_TOKEN_INVALID')
  })

  test('a link made by a clock that was ahead is invalid once the clock is set back', async () => {
    const YEAR_MS = 365 * 24 * 60 * 60 * 1000
    app.advance(YEAR_MS)
    const token = await linkFor('ann@example.com')
    app.advance(-YEAR_MS)
    expect((await reset(token)).body['error']).toBe('RESET_TOKEN_INVALID')
  })

  test('used twice at once it works once', async () => {
    const token = await linkFor('ann@example.com')
    const statuses = await Promise.all([reset(token, 'the first one'), reset(token, 'the second one')])
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  test('changing the password ends open links', async () => {
    await app.addUser('eve@example.com')
    const token = await linkFor('eve@example.com')
    await ask(app, 'POST', '/api/account/password', {
      as: 'eve@example.com',
      json: { currentPassword: PASSWORD, newPassword: NEW },
    })
    expect((await reset(token, 'of the thief')).status).toBe(400)
    expect(await signIn('eve@example.com', NEW)).toBe(200)
  })

  test('an invited user sets the first password with it', async () => {
    const made = await asRoot('POST', '/api/users', { email: 'invited@example.com' })
    const url = String(made.body['inviteUrl'])
    expect(await signIn('invited@example.com', '')).toBe(401)
    expect((await reset(tokenIn(url))).status).toBe(200)
    expect(await signIn('invited@example.com', NEW)).toBe(200)
  })

  test('it does not turn off the second step or end the lockout of another address', async () => {
    await app.addUser('locked@example.com')
    for (let i = 0; i < 10; i++)
      await app.call('POST', '/api/auth/signin', {
        from: '203.0.113.9',
        json: { email: 'locked@example.com', password: 'wrong' },
      })
    expect((await reset(await linkFor('locked@example.com'))).status).toBe(200)
    const mallory = await app.call('POST', '/api/auth/signin', {
      from: '203.0.113.9',
      json: { email: 'locked@example.com', password: NEW },
    })
    expect(mallory.status).toBe(429)
    expect(await signIn('locked@example.com', NEW)).toBe(200)
  })

  test.each(['', 'nonsense', 'a'.repeat(43)])('token %p: 400', async (token) => {
    expect((await reset(token)).status).toBe(400)
  })
})

async function nextTo(email: string) {
  for (;;) {
    const mail = await smtp.next()
    if (mail.to.includes(email)) return mail
  }
}
