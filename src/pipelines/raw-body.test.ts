import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp, step } from '../testing/pipeline-app.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const echo = step('answer', 'response_handler', { body: { raw: 'request.rawBody' } })
const sent = async (contentType: string, body: BodyInit) => {
  const { status, body: answer } = await app.answer([echo], {
    method: 'POST',
    body,
    headers: { 'content-type': contentType },
  })
  expect(status).toBe(200)
  return answer
}

test.each([
  ['application/json', '\ufeff{ "a":1,\r\n  "a": 2 }  '],
  ['application/json', '{ broken'],
  ['application/x-www-form-urlencoded', 'a=1&a=%32&b=x+y'],
  ['text/plain; charset=utf-8', 'häuser 🏠'],
  ['application/xml', '<a/>'],
])('for a body of type %s it is the exact text', async (type, text) => {
  expect(await sent(type, text)).toEqual({ raw: text })
})

test('it is null for multipart, without a body and for a GET', async () => {
  const boundary = 'XyZ'
  const parts = `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--${boundary}--\r\n`
  expect(await sent(`multipart/form-data; boundary=${boundary}`, parts)).toEqual({ raw: null })
  expect(await sent('application/json', '')).toEqual({ raw: null })
  expect(await app.answer([echo])).toEqual({ status: 200, body: { raw: null } })
})

test('code does not get it as part of the request', async () => {
  const steps = [
    step('keys', 'function_handler', { code: 'const handler = ({ request }) => Object.keys(request)' }),
    step('answer', 'response_handler', { body: { keys: 'steps.keys' } }),
  ]
  const { body } = await app.answer(steps, { method: 'POST', json: { a: 1 } })
  const keys = ['method', 'path', 'query', 'params', 'headers', 'ip', 'userAgent', 'schedule', 'body']
  expect(body).toEqual({ keys })
})
