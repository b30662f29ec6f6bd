import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp, step } from '../../testing/pipeline-app.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const data = (value: unknown) => ({ status: 200, body: { success: true, data: value } })

describe('email_handler', () => {
  const mail = (config: Record<string, unknown>) => [
    step('m', 'email_handler', { to: "'ann@example.com'", subject: 'Hello there', body: 'Text', ...config }),
  ]

  test('says so where no mail server is set up', async () => {
    expect(await app.answer(mail({}))).toMatchObject({
      status: 500,
      body: { error: 'EMAIL_NOT_CONFIGURED', step: 'm' },
    })
  })

  test('sends what it says, with no line of a header from a visitor', async () => {
    const sent: unknown[] = []
    app.ctx.mail = { isConfigured: true, send: async (one) => void sent.push(one), close: () => {} }
    const json = { to: 'a@x.ch', subject: 'Hi\r\nBcc: all@x.ch', reply: 'b@x.ch' }
    expect(
      await app.answer(mail({ to: 'input.to', subject: '{{input.subject}}', replyTo: 'input.reply' }), {
        json,
      }),
    ).toEqual(data({ sent: true }))
    expect(sent).toEqual([{ to: 'a@x.ch', subject: 'Hi Bcc: all@x.ch', text: 'Text', replyTo: 'b@x.ch' }])
    for (const bad of [{ to: "'x'" }, { to: 'null' }, { replyTo: "'a@x.ch\\nBcc: b@x.ch'" }])
      expect((await app.run(mail(bad), { json })).status).toBe(400)
  })

  test('goes to 50 at the most, as a list or as one text', async () => {
    const sent: { to: string }[] = []
    app.ctx.mail = { isConfigured: true, send: async (one) => void sent.push(one), close: () => {} }
    const to = (count: number) => Array.from({ length: count }, (_, i) => `a${i}@x.ch`)
    expect((await app.run(mail({ to: 'input.to' }), { json: { to: to(50) } })).status).toBe(200)
    expect(sent.map((one) => one.to)).toEqual([to(50).join(', ')])
    for (const many of [to(51), to(51).join(','), []])
      expect((await app.run(mail({ to: 'input.to' }), { json: { to: many } })).status).toBe(400)
    expect(sent).toHaveLength(1)
  })
})
