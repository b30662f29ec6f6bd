import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type MailServer, mailServer } from '../../testing/mail-server.ts'
import { type PipelineApp, pipelineApp, step } from '../../testing/pipeline-app.ts'

let app: PipelineApp
let smtp: MailServer
beforeAll(async () => {
  smtp = await mailServer()
  app = await pipelineApp({ SMTP_URL: smtp.url, SMTP_FROM: 'sites@example.com' })
})
afterAll(async () => {
  app.close()
  await smtp.close()
})

const mail = (config: Record<string, unknown>) => [
  step('m', 'email_handler', { to: "'ann@example.com'", subject: 'Hello there', body: 'Text', ...config }),
]

describe('email_handler', () => {
  test('reports that no mail server is set up', async () => {
    const without = await pipelineApp()
    expect(await without.answer(mail({}))).toMatchObject({
      status: 500,
      body: { error: 'EMAIL_NOT_CONFIGURED', step: 'm' },
    })
    without.close()
  })

  test('sends the configured mail, and a visitor cannot inject headers', async () => {
    const json = { to: 'a@x.ch', subject: 'Hi\r\nBcc: all@x.ch', reply: 'b@x.ch' }
    const config = mail({ to: 'input.to', subject: '{{input.subject}}', replyTo: 'input.reply' })
    expect(await app.answer(config, { json })).toEqual({
      status: 200,
      body: { success: true, data: { sent: true } },
    })
    const { from, to, raw, text } = await smtp.next()
    expect([from, to, text.trim()]).toEqual(['sites@example.com', ['a@x.ch'], 'Text'])
    expect(raw).toMatch(/^Subject: Hi Bcc: all@x.ch\r$/m)
    expect(raw).toMatch(/^Reply-To: b@x.ch\r$/m)
    expect(raw).not.toMatch(/^Bcc/m)
    for (const bad of [{ to: "'x'" }, { to: 'null' }, { replyTo: "'a@x.ch\\nBcc: b@x.ch'" }])
      expect((await app.run(mail(bad), { json })).status).toBe(400)
  })

  test('goes to at most 50 recipients, as a list or as one text', async () => {
    const addresses = (count: number) => Array.from({ length: count }, (_, i) => `a${i}@x.ch`)
    const sent = smtp.mails.length
    for (const to of [addresses(50), addresses(50).join(', ')]) {
      expect((await app.run(mail({ to: 'input.to' }), { json: { to } })).status).toBe(200)
      expect((await smtp.next()).to).toEqual(addresses(50))
    }
    for (const to of [addresses(51), addresses(51).join(','), []])
      expect((await app.run(mail({ to: 'input.to' }), { json: { to } })).status).toBe(400)
    expect(smtp.mails).toHaveLength(sent + 2)
  })
})
