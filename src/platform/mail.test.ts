import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type MailServer, mailServer } from '../testing/mail-server.ts'
import { createMailer, type Mail, type Mailer } from './mail.ts'

const MAIL = { to: ['ann@example.com'], subject: 'Hello', text: 'Hello, Ann' }
const PASSWORD = 'hunter2-secret'

/** The message that `send` rejects with; fails the test if it does not reject. */
async function refusalOf(mailer: Mailer, mail: Mail = MAIL): Promise<string> {
  const error = await mailer.send(mail).then(
    () => new Error('The mail went out'),
    (thrown: unknown) => thrown,
  )
  mailer.close()
  expect(Object(error).cause).toBeUndefined()
  return String(error)
}

/** A mail server that responds as the test wants; `heard` is everything it received. */
function scripted(answer: (line: string) => string) {
  let heard = ''
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => void socket.write('220 ready\r\n'),
      data(socket, bytes) {
        const text = bytes.toString()
        heard += text
        for (const line of text.split('\r\n').filter(Boolean)) {
          const said = answer(line)
          if (said !== '') socket.write(`${said}\r\n`)
        }
      },
    },
  })
  return { port: server.port, heard: () => heard, stop: () => server.stop(true) }
}

describe('goes to exactly this address', () => {
  let smtp: MailServer
  let mailer: Mailer
  beforeAll(async () => {
    smtp = await mailServer()
    mailer = createMailer(smtp.url, 'svc@example.com')
  })
  afterAll(async () => {
    mailer.close()
    await smtp.close()
  })

  test('one, or each of several', async () => {
    await mailer.send(MAIL)
    await mailer.send({
      ...MAIL,
      to: ["o'neil+x@example.com", 'bücher@example.com'],
      replyTo: 'bob@example.com',
    })
    expect((await smtp.next()).to).toEqual(['ann@example.com'])
    const second = await smtp.next()
    expect(second.to[0]).toBe("o'neil+x@example.com")
    expect(second.to).toHaveLength(2)
    expect(second.raw).toMatch(/^Reply-To: bob@example.com\r$/m)
  })

  test.each([
    'ann@example.com,x',
    'x,ann@example.com',
    'x;ann@example.com',
    'ann@example.com;x',
    '<ann@example.com>x',
    'x<ann@example.com>',
    'group:ann@example.com',
    'group:ann@example.com;',
    '"ann@example.com"',
    'ann(x)@example.com',
    'ann\u0000@example.com',
    'ann\u202e@example.com',
    'ann@example.com\r\nBcc: bob@example.com',
    '',
  ])('%j reaches nobody else', async (address) => {
    const before = smtp.mails.length
    await expect(mailer.send({ ...MAIL, to: [address] })).rejects.toThrow(
      'Mail cannot be sent to this address',
    )
    if (address !== '')
      await expect(mailer.send({ ...MAIL, replyTo: address })).rejects.toThrow(
        'Mail cannot be sent to this address',
      )
    expect(smtp.mails).toHaveLength(before)
  })
})

describe('a server that rejects', () => {
  test('the mail and quotes its link: no error contains the link', async () => {
    const server = scripted((line) => {
      if (line.startsWith('DATA')) return '354 go on'
      if (line === '.') return '550 5.7.1 refused: http://admin.example.com/reset-password?token=SECRET'
      return /^(EHLO|MAIL|RCPT|QUIT)/.test(line) ? '250 yes' : ''
    })
    const mailer = createMailer(`smtp://127.0.0.1:${server.port}`, 'svc@example.com')
    expect(await refusalOf(mailer)).toBe(
      'Error: The mail server did not accept the mail: it rejects the mail itself (550)',
    )
    server.stop()
  })

  test('the address: the error has its words in one line', async () => {
    const server = scripted((line) => (line.startsWith('RCPT') ? '550-no\r\n550 such user' : '250 yes'))
    const mailer = createMailer(`smtp://127.0.0.1:${server.port}`, 'svc@example.com')
    expect(await refusalOf(mailer)).toMatch(
      /^Error: The mail server did not accept the mail: [^\n]*no[^\n]*such user/,
    )
    server.stop()
  })
})

describe('a password, with a man in the middle that hides STARTTLS', () => {
  const hiding = () =>
    scripted((line) => {
      if (line.startsWith('EHLO')) return '250-here\r\n250 AUTH PLAIN LOGIN'
      if (line.startsWith('STARTTLS')) return '502 not here'
      return line.startsWith('AUTH') ? '535 no' : '250 yes'
    })
  const spoken = Buffer.from(`\0svc\0${PASSWORD}`).toString('base64')

  test('is not sent', async () => {
    const server = hiding()
    const refusal = await refusalOf(createMailer(`smtp://svc:${PASSWORD}@0.0.0.0:${server.port}`, 'a@b.c'))
    expect(server.heard()).toContain('STARTTLS')
    expect(server.heard()).not.toContain(spoken)
    expect(refusal).not.toContain(PASSWORD)
    expect(refusal).toContain('it offers no STARTTLS')
    server.stop()
  })

  test.each(['127.0.0.1', 'localhost'])('is sent to this machine, called %s', async (host) => {
    const server = hiding()
    await refusalOf(createMailer(`smtp://svc:${PASSWORD}@${host}:${server.port}`, 'a@b.c'))
    expect(server.heard()).toContain(spoken)
    server.stop()
  })

  test('is sent if the operator allows it', async () => {
    const server = hiding()
    const url = `smtp://svc:${PASSWORD}@0.0.0.0:${server.port}?ignoreTLS=true`
    expect(await refusalOf(createMailer(url, 'a@b.c'))).toBe(
      'Error: The mail server did not accept the mail: it rejects the user name or the password (535)',
    )
    expect(server.heard()).toContain(spoken)
    server.stop()
  })
})
