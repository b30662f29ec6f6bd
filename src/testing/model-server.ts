import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa } from './test-ca.ts'

export type AskedModel = { path: string; headers: Record<string, string>; body: Record<string, unknown> }

/** A stand-in of the providers of models, on loopback by TLS. */
export type ModelServer = {
  /** Settings of a server that asks it. */
  env: Record<string, string>
  url: string
  /** What it was asked, in order. */
  asked: AskedModel[]
  /** How it answers the next questions. */
  answer: (asked: AskedModel, signal: AbortSignal) => Response | Promise<Response>
  close(): Promise<void>
}

export function modelServer(): ModelServer {
  const folder = mkdtempSync(join(tmpdir(), 'svc-models-'))
  const ca = createTestCa()
  writeFileSync(join(folder, 'ca.pem'), ca.pem)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    tls: ca.issue({ names: ['models.test', 'localhost'] }),
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const headers = Object.fromEntries(request.headers)
      const asked = { path: pathname + search, headers, body: await request.json() }
      models.asked.push(asked)
      return models.answer(asked, request.signal)
    },
  })
  const url = `https://models.test:${server.port}`
  const models: ModelServer = {
    url,
    env: {
      AI_OPENAI_URL: `${url}/openai`,
      AI_ANTHROPIC_URL: `${url}/anthropic`,
      AI_GOOGLE_URL: `${url}/google`,
      PROXY_ALLOWED_TARGETS: 'models.test',
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    },
    asked: [],
    answer: () => Response.json(openaiAnswer('Hello')),
    async close() {
      await server.stop(true)
      rmSync(folder, { recursive: true })
    },
  }
  return models
}

export const openaiAnswer = (
  content: string,
  finish = 'stop',
  usage: object | null = { prompt_tokens: 3, completion_tokens: 4 },
) => ({
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }],
  ...(usage !== null && { usage }),
})

/** The events as a stream, each sent by itself. */
export function eventStream(
  events: readonly (object | string)[],
  end: 'closed' | 'broken' | 'open' = 'closed',
): Response {
  const left = [...events]
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const event = left.shift()
      if (event !== undefined) {
        const text = typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`
        controller.enqueue(new TextEncoder().encode(text))
        await new Promise((resolve) => setImmediate(resolve))
      } else if (end === 'closed') controller.close()
      else if (end === 'broken') controller.error()
      else await new Promise(() => {})
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** How each provider streams a text in these pieces, with 3 tokens in and 4 out. */
export const STREAMS: Record<'openai' | 'anthropic' | 'google', (pieces: string[]) => (object | string)[]> = {
  openai: (pieces) => [
    { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
    ...pieces.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
    'data: [DONE]\n\n',
  ],
  anthropic: (pieces) => [
    { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ': a comment\n\nevent: ping\ndata: {"type": "ping"}\n\n',
    ...pieces.map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ],
  google: (pieces) => [
    ...pieces.map((text) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] })),
    {
      candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 3, thoughtsTokenCount: 1 },
    },
  ],
}
