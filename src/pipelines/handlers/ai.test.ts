import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS } from '../../domain/durations.ts'
import { operatorGrant } from '../../modules/auth/authorize.ts'
import { flushRuns } from '../../modules/runs/service.ts'
import { putSecret } from '../../modules/secrets/service.ts'
import { type ModelServer, modelServer, openaiAnswer } from '../../testing/model-server.ts'
import { type PipelineApp, pipelineApp, type RunOptions, step } from '../../testing/pipeline-app.ts'

const KEY = 'sk-live-0123456789abcdef'

let models: ModelServer
let app: PipelineApp
beforeAll(async () => {
  models = modelServer()
  app = await pipelineApp({ ...models.env, AI_DAILY_TOKENS: '20' })
  for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY'])
    putSecret(app.ctx, operatorGrant(app.projectId), name, KEY)
})
afterAll(async () => {
  app.close()
  await models.close()
})
afterEach(() => {
  models.answer = () => Response.json(openaiAnswer('Hello'))
  models.asked.length = 0
  app.ctx.db.sqlite.run('DELETE FROM model_tokens')
})

const OPENAI = { provider: 'openai', model: 'gpt-x' }
const ask = (config: Record<string, unknown>, json: unknown = { message: 'Hi' }, more: RunOptions = {}) =>
  app.answer([step('ai', 'ai_handler', config)], { json, rule: { debugEnabled: true }, ...more })
const outputOf = ({ body }: { body: unknown }) => (body as { data: Record<string, unknown> }).data

const USAGE = { inputTokens: 3, outputTokens: 4, totalTokens: 7 }
const answers = {
  openai: openaiAnswer('Hello'),
  anthropic: {
    content: [{ type: 'thinking' }, { type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 4 },
  },
  google: {
    candidates: [
      { content: { parts: [{ text: 'thinking', thought: true }, { text: 'Hello' }] }, finishReason: 'STOP' },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
  },
}

describe.each<[provider: keyof typeof answers, path: string, headers: Record<string, string>, body: object]>([
  [
    'openai',
    '/openai/chat/completions',
    { authorization: `Bearer ${KEY}` },
    {
      model: 'a/b',
      messages: [
        { role: 'system', content: 'Be brief, Ann' },
        { role: 'user', content: 'Hi' },
      ],
      max_tokens: 4096,
      temperature: 0.5,
    },
  ],
  [
    'anthropic',
    '/anthropic/messages',
    { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' },
    {
      model: 'a/b',
      system: 'Be brief, Ann',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 4096,
      temperature: 0.5,
    },
  ],
  [
    'google',
    '/google/models/a%2Fb:generateContent',
    { 'x-goog-api-key': KEY },
    {
      systemInstruction: { parts: [{ text: 'Be brief, Ann' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 4096, temperature: 0.5 },
    },
  ],
])('%s', (provider, path, headers, body) => {
  test('is asked in its own way, and answers in ours', async () => {
    models.answer = () => Response.json(answers[provider])
    const config = { provider, model: 'a/b', systemPrompt: 'Be brief, {{input.name}}', temperature: 0.5 }
    const answered = await ask(config, { message: 'Hi', name: 'Ann' })
    expect(outputOf(answered)).toEqual({
      content: 'Hello',
      role: 'assistant',
      tokensUsed: 7,
      usage: USAGE,
      latencyMs: expect.any(Number),
      finishReason: 'stop',
    })
    const [asked] = models.asked
    expect(asked).toMatchObject({ path, headers })
    expect(asked?.body).toEqual(body as never)
  })
})

const CHAT = { ...OPENAI, mode: 'chat', responseMode: 'message' }
const sentTurns = () => models.asked.at(-1)?.body['messages']

test('a chat sends the last messages of people and models, whatever form they have', async () => {
  const messages = [
    { role: 'user', content: 'one' },
    { role: 'system', content: 'obey' },
    { role: 'tool', content: 'x' },
    'no message',
    {
      role: 'assistant',
      parts: [{ type: 'text', text: 't' }, { type: 'file' }, { type: 'text', text: 'wo' }],
    },
    { role: 'assistant', parts: [{ type: 'step-start' }] },
    { role: 'user', content: [{ type: 'text', text: 'three' }] },
  ]
  expect((await ask(CHAT, { messages })).status).toBe(200)
  const all = [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: 'three' },
  ]
  expect(sentTurns()).toEqual(all)
  await ask({ ...CHAT, maxHistoryMessages: 2, messagesField: 'request.body.talk' }, { talk: messages })
  expect(sentTurns()).toEqual(all.slice(1))
})

test.each<[field: string, json: unknown]>([
  ['question', { question: 'Hi' }],
  ["the 'question'", { "the 'question'": 'Hi' }],
  ['request.body.deep.question', { deep: { question: 'Hi' } }],
  ['{{input.a}}{{input.b}}', { a: 'H', b: 'i' }],
])('the question is found by %s', async (messageField, json) => {
  await ask({ ...OPENAI, messageField }, json)
  expect(sentTurns()).toEqual([{ role: 'user', content: 'Hi' }])
})

test.each<[what: string, config: Record<string, unknown>, json: unknown, status: number, code: string]>([
  ['no message', OPENAI, {}, 400, 'MISSING_MESSAGE'],
  ['an empty message', OPENAI, { message: ' ' }, 400, 'MISSING_MESSAGE'],
  ['a message that is an object', OPENAI, { message: { a: 1 } }, 400, 'MISSING_MESSAGE'],
  ['no messages', CHAT, {}, 400, 'MISSING_MESSAGES'],
  ['messages that are no list', CHAT, { messages: 'Hi' }, 400, 'MISSING_MESSAGES'],
  ['messages of nobody', CHAT, { messages: [{ role: 'system', content: 'x' }] }, 400, 'MISSING_MESSAGES'],
  ['more than 1 MiB', OPENAI, { message: 'ü'.repeat(2 ** 19 + 1) }, 413, 'Payload Too Large'],
  [
    'a secret that is not there',
    { ...OPENAI, apiKey: 'secrets.NONE' },
    { message: 'Hi' },
    500,
    'AI_NOT_CONFIGURED',
  ],
  [
    'a key that no header may hold',
    { ...OPENAI, apiKey: "'a\\nb'" },
    { message: 'Hi' },
    500,
    'AI_NOT_CONFIGURED',
  ],
  [
    'a server without TLS',
    { ...OPENAI, baseUrl: 'http://models.test' },
    { message: 'Hi' },
    500,
    'Internal Server Error',
  ],
])('%s: nothing is asked', async (_, config, json, status, code) => {
  const answered = await ask(config, json)
  expect([answered.status, answered.body]).toEqual([status, expect.objectContaining({ error: code })])
  expect(models.asked).toEqual([])
})

test('a missing key is named by its secret', async () => {
  const other = app.addProject('other')
  const messageOf = async (config: Record<string, unknown>) =>
    (await ask(config, { message: 'Hi' }, { projectId: other })).body
  expect(await messageOf(OPENAI)).toMatchObject({ message: expect.stringContaining('OPENAI_API_KEY') })
  expect(await messageOf({ ...OPENAI, apiKey: "secrets['mine']" })).toMatchObject({
    message: expect.stringContaining('mine'),
  })
})

test('another server by baseUrl, with other limits', async () => {
  await ask(
    { ...OPENAI, baseUrl: `${models.url}/mine/v1/`, maxTokens: '{{input.n}}', temperature: 9 },
    { message: 'Hi', n: 7 },
  )
  expect(models.asked[0]).toMatchObject({
    path: '/mine/v1/chat/completions',
    body: { max_tokens: 7, temperature: 2 },
  })
})

test.each([
  ['length', 'length'],
  ['content_filter', 'content-filter'],
  ['tool_calls', 'other'],
])('the end %s is %s; without usage tokens are estimated', async (given, told) => {
  models.answer = () => Response.json(openaiAnswer('12345678', given, null))
  const { finishReason, usage } = outputOf(await ask(OPENAI, { message: '1234' }))
  expect([finishReason, usage]).toEqual([told, { inputTokens: 1, outputTokens: 2, totalTokens: 3 }])
})

/** What nobody may find the key in. */
function traces(): string {
  flushRuns(app.ctx)
  const runs = app.ctx.db.sqlite.query('SELECT * FROM pipeline_runs').all()
  const audit = app.ctx.db.sqlite.query('SELECT * FROM audit_log').all()
  return JSON.stringify([runs, audit, app.lines])
}

const SAID = `the provider says that ${KEY} is wrong`
test.each<[what: string, answer: () => Response | Promise<Response>]>([
  ['401 that repeats the key', () => Response.json({ error: { message: SAID } }, { status: 401 })],
  [
    '429',
    () => Response.json({ error: { message: SAID } }, { status: 429, headers: { 'retry-after': '9' } }),
  ],
  ['500 without JSON', () => new Response(SAID, { status: 500 })],
  ['500 with the key where a text is cut', () => new Response(`${'x'.repeat(490)}${KEY}`, { status: 500 })],
  ['a redirect', () => Response.redirect(`${models.url}/elsewhere`, 307)],
  ['no JSON', () => new Response(SAID)],
  ['JSON of something else', () => Response.json({ text: SAID })],
  ['a list', () => Response.json([SAID])],
  ['nothing', () => new Response('')],
  ['more than 4 MiB', () => Response.json(openaiAnswer('x'.repeat(4 * 2 ** 20)))],
  [
    'half of it',
    () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            controller.enqueue(new TextEncoder().encode('{"choices": [{"message"'))
            await new Promise((resolve) => setImmediate(resolve))
            controller.error()
          },
        }),
      ),
  ],
  ['nothing for a second', () => new Promise(() => {})],
])('502 when the provider answers %s; neither its words nor the key are told', async (_, answer) => {
  models.answer = answer
  for (const responseMode of ['message', 'stream']) {
    const answered = await ask({ ...OPENAI, responseMode, timeout: 1000 })
    expect([answered.status, answered.body]).toEqual([
      502,
      expect.objectContaining({ error: 'AI_PROVIDER_ERROR', step: 'ai' }),
    ])
    expect(JSON.stringify(answered.body)).not.toMatch(/the provider says|xxx/)
  }
  expect(traces()).not.toContain(KEY.slice(0, 9))
})

test('the author of a rule reads in the run log why, without the key', async () => {
  models.answer = () => Response.json({ error: { message: SAID } }, { status: 401 })
  await ask(OPENAI)
  expect(traces()).toContain('answered 401 (the provider says that [redacted] is wrong)')
})

test('an answer that repeats the key does not', async () => {
  models.answer = () => Response.json(openaiAnswer(`It is ${KEY}, is it not`))
  expect(outputOf(await ask({ ...OPENAI, apiKey: `'${KEY}'` }))['content']).toBe(
    'It is [redacted], is it not',
  )
  expect(traces()).not.toContain(KEY)
})

test('a project has its tokens of a day, and others theirs', async () => {
  for (const status of [200, 200, 200, 429]) expect((await ask(OPENAI)).status).toBe(status)
  const refused = await app.run([step('ai', 'ai_handler', OPENAI)], { json: { message: 'Hi' } })
  expect(refused.headers.get('retry-after')).toBe(String(12 * 60 * 60))
  expect(await refused.json()).toMatchObject({ error: 'AI_BUDGET_SPENT' })
  const other = app.addProject('rich')
  putSecret(app.ctx, operatorGrant(other), 'OPENAI_API_KEY', KEY)
  expect((await ask(OPENAI, { message: 'Hi' }, { projectId: other })).status).toBe(200)
  app.advance(DAY_MS)
  expect((await ask(OPENAI)).status).toBe(200)
  const rows = app.ctx.db.sqlite.query<{ tokens: number }, []>('SELECT tokens FROM model_tokens').all()
  expect(rows).toEqual([{ tokens: 7 }, { tokens: 7 }])
})

test('more than eight questions of a project at once are refused', async () => {
  const held: (() => void)[] = []
  models.answer = () => new Promise((resolve) => held.push(() => resolve(Response.json(openaiAnswer('x')))))
  const asking = Array.from({ length: 8 }, () => ask(OPENAI))
  while (held.length < 8) await Bun.sleep(1)
  expect(await ask(OPENAI)).toMatchObject({ status: 503, body: { error: 'AI_BUSY' } })
  for (const release of held) release()
  expect((await Promise.all(asking)).map(({ status }) => status)).toEqual(Array(8).fill(200))
  models.answer = () => Response.json(openaiAnswer('x'))
  app.ctx.db.sqlite.run('DELETE FROM model_tokens')
  expect((await ask(OPENAI)).status).toBe(200)
})
