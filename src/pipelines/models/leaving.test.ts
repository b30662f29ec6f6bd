import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { ask } from '../../testing/ask.ts'
import { eventStream, type ModelServer, modelServer, STREAMS } from '../../testing/model-server.ts'
import { type ServedPipeline, servedPipeline } from '../../testing/served-pipeline.ts'

let models: ModelServer
let served: ServedPipeline
beforeAll(async () => {
  models = modelServer()
  served = await servedPipeline(models.env)
  const { app, key, projectId } = served
  for (const responseMode of ['message', 'stream']) {
    const config = { provider: 'openai', model: 'm', responseMode, apiKey: "'sk-0123456789'" }
    const pipelineConfig = { steps: [{ handlerType: 'ai_handler', config }] }
    const json = { pathPattern: `/api/${responseMode}`, proxyType: 'pipeline', pipelineConfig }
    expect((await ask(app, 'POST', `/api/proxy-rules/project/${projectId}`, { key, json })).status).toBe(201)
  }
})
afterAll(async () => {
  await served.close()
  await models.close()
})

const BODY = '{"message":"Hi"}'
const head = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: ${served.host}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`

test('a piece arrives while the answer is under way; who leaves ends the question', async () => {
  const aborted = Promise.withResolvers<void>()
  models.answer = (_, signal) => {
    signal.addEventListener('abort', () => aborted.resolve())
    return eventStream(STREAMS.openai(['Hel']).slice(0, 2), 'open')
  }
  const socket = connect(served.port, '127.0.0.1')
  socket.write(head('/api/stream') + BODY)
  let heard = ''
  for await (const piece of socket) {
    heard += String(piece)
    if (heard.includes('"delta":"Hel"')) break
  }
  socket.destroy()
  await aborted.promise
  expect(heard).toContain('x-vercel-ai-ui-message-stream: v1')
})

test('who leaves before there is an answer ends the question, too', async () => {
  const asked = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  models.answer = (_, signal) => {
    signal.addEventListener('abort', () => aborted.resolve())
    asked.resolve()
    return new Promise(() => {})
  }
  const socket = connect(served.port, '127.0.0.1')
  socket.write(head('/api/message') + BODY)
  await asked.promise
  socket.destroy()
  await aborted.promise
})
