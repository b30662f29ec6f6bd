import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { operatorGrant } from '../../modules/auth/authorize.ts'
import { listRuns } from '../../modules/runs/service.ts'
import { putSecret } from '../../modules/secrets/service.ts'
import { eventStream, type ModelServer, modelServer, STREAMS } from '../../testing/model-server.ts'
import { type PipelineApp, pipelineApp, step } from '../../testing/pipeline-app.ts'
import { until } from '../../testing/until.ts'

const KEY = 'sk-live-0123456789abcdef'

let models: ModelServer
let app: PipelineApp
let notes: string
beforeAll(async () => {
  models = modelServer()
  app = await pipelineApp(models.env)
  for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY'])
    putSecret(app.ctx, operatorGrant(app.projectId), name, KEY)
  notes = app.addSchema('notes', [
    { name: 'text', type: 'text' },
    { name: 'tokens', type: 'integer' },
  ])
})
afterAll(async () => {
  app.close()
  await models.close()
})
afterEach(() => app.ctx.db.sqlite.run('DELETE FROM model_tokens'))

const chat = (provider: string, more: Record<string, unknown> = {}) => ({
  steps: [step('ai', 'ai_handler', { provider, model: 'm', mode: 'chat', ...more }, { name: 'talk' })],
  postSteps: [
    step('keep', 'data_create', {
      schemaId: notes,
      fields: { text: 'steps.ai.content', tokens: 'steps.talk.tokensUsed' },
    }),
  ],
})
const asked: UIMessage[] = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
const run = (config: ReturnType<typeof chat>) => app.run(config, { json: { messages: asked } })

/** The real client of the stream. */
const readByClient = (config: ReturnType<typeof chat>): Promise<ReadableStream<UIMessageChunk>> =>
  new DefaultChatTransport({
    api: 'http://site.test/api/x',
    fetch: Object.assign(
      async (_: unknown, init?: RequestInit) =>
        app.run(config, { body: String(init?.body), headers: { 'content-type': 'application/json' } }),
      { preconnect: fetch.preconnect },
    ),
  }).sendMessages({
    chatId: 'c',
    messages: asked,
    messageId: undefined,
    trigger: 'submit-message',
    abortSignal: undefined,
  })

const tokensUsed = () =>
  app.ctx.db.sqlite.query<{ tokens: number }, []>('SELECT tokens FROM model_tokens').get()?.tokens ?? 0

const lastRun = () => listRuns(app.ctx, operatorGrant(app.projectId), { limit: '1' }).data[0]

const PIECES = ['Hel', 'lo, ', 'wörld 🌍', '\n\ndata: x']

describe.each([
  ['openai', '/openai/chat/completions', { stream: true, stream_options: { include_usage: true } }],
  ['anthropic', '/anthropic/messages', { stream: true }],
  ['google', '/google/models/m:streamGenerateContent?alt=sse', {}],
] as const)('%s', (provider, path, body) => {
  test('the AI SDK reads the stream', async () => {
    models.answer = () => eventStream(STREAMS[provider](PIECES))
    let message: UIMessage | undefined
    const stream = await readByClient(chat(provider))
    for await (const one of readUIMessageStream({ stream })) message = one
    expect(message?.parts).toEqual([
      { type: 'step-start' },
      { type: 'text', text: PIECES.join(''), state: 'done' },
    ])
    expect(models.asked.at(-1)).toMatchObject({ path, body })
  })

  test('each piece goes out as it came, and post steps are kept before the end', async () => {
    models.answer = () => eventStream(STREAMS[provider](PIECES))
    const response = await run(chat(provider))
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/event-stream',
      'x-vercel-ai-ui-message-stream': 'v1',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    })
    const events = (await response.text()).split('\n\n').map((line) => line.replace('data: ', ''))
    const id = 'text-1'
    expect(events.slice(0, -2).map((event) => JSON.parse(event))).toEqual([
      { type: 'start' },
      { type: 'start-step' },
      { type: 'text-start', id },
      ...PIECES.map((delta) => ({ type: 'text-delta', id, delta })),
      { type: 'text-end', id },
      { type: 'finish-step' },
      { type: 'finish' },
    ])
    expect(events.slice(-2)).toEqual(['[DONE]', ''])
    const waiting = app.ctx.db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM post_steps').get()
    const stored = app.stored(notes)
    expect((waiting?.n ?? 0) > 0 || stored.length > 0).toBe(true)
    while (app.stored(notes).length < 2) await Bun.sleep(1)
    expect(app.stored(notes)[0]).toEqual({ text: PIECES.join(''), tokens: 7 })
    expect(tokensUsed()).toBe(7)
    expect(lastRun()).toMatchObject({ status: 200, failedStep: null, error: null })
    app.ctx.db.sqlite.run('DELETE FROM records')
  })
})

test('a key that a provider repeats is in no piece, however it is cut', async () => {
  const text = `your key: ${KEY} sk-live-0123 end`
  models.answer = () => eventStream(STREAMS.openai([...text]))
  const { steps } = chat('openai')
  const body = await (await app.run(steps, { json: { messages: asked } })).text()
  const said = [...body.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('')
  expect(said).toBe('your key: sk-live[redacted] sk-live-0123 end')
})

describe('a failure after the first piece', () => {
  const before = STREAMS.openai(['Hel']).slice(0, 2)
  test.each<[what: string, answer: () => Response]>([
    ['the connection breaks', () => eventStream(before, 'broken')],
    ['it ends too early', () => eventStream(before)],
    ['it reports an error', () => eventStream([...before, { error: { message: `no more, ${KEY}` } }])],
    ['it is no JSON any more', () => eventStream([...before, 'data: oops\n\n'])],
    ['an event is endless', () => eventStream([...before, `data: ${'x'.repeat(2 ** 20 + 1)}`])],
    ['it never ends', () => eventStream(before, 'open')],
  ])('%s: the stream says so and ends', async (_, answer) => {
    models.answer = answer
    const response = await run(chat('openai', { timeout: 1000 }))
    const events = (await response.text()).trimEnd().split('\n\n')
    expect([response.status, events.at(-1)]).toEqual([200, 'data: [DONE]'])
    const { type, errorText } = JSON.parse(events.at(-2)?.slice(6) ?? '')
    expect([type, errorText]).toEqual(['error', expect.stringMatching(/^The provider of the model /)])
    expect(events.join('') + app.lines.join('')).not.toContain(KEY)
    expect(events.join('')).not.toContain('finish')
    expect(tokensUsed()).toBeGreaterThan(0)
    const noted = lastRun()
    expect(noted).toMatchObject({ status: 502, failedStep: 'ai', error: expect.stringContaining(errorText) })
    expect(JSON.stringify(noted)).not.toContain(KEY)
  })

  test('post steps do not run', () => {
    expect(app.stored(notes)).toEqual([])
    expect(app.ctx.db.sqlite.query('SELECT id FROM post_steps').all()).toEqual([])
  })
})

test('when the visitor leaves the question ends, and what was said counts', async () => {
  let left: (() => void) | undefined
  const ended = new Promise<void>((resolve) => {
    left = resolve
  })
  models.answer = (_, signal) => {
    signal.addEventListener('abort', () => left?.())
    return eventStream(STREAMS.openai(['Hel']).slice(0, 2), 'open')
  }
  const before = listRuns(app.ctx, operatorGrant(app.projectId), {}).pagination.total
  const reader = (await run(chat('openai'))).body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await ended
  expect(tokensUsed()).toBeGreaterThan(0)
  await until(
    'the run is in the log',
    () => listRuns(app.ctx, operatorGrant(app.projectId), {}).pagination.total > before,
  )
  expect(lastRun()).toMatchObject({ status: 200, failedStep: null, error: null })
})
