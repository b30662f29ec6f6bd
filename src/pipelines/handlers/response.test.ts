import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp, type RunOptions, step } from '../../testing/pipeline-app.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

describe('response_handler', () => {
  const respond = (config: Record<string, unknown>, options: RunOptions = {}) =>
    app.run([step('r', 'response_handler', config)], options)

  test.each<[config: Record<string, unknown>, body: string, type: string]>([
    [{ body: '{"hi":"{{request.body.name}}"}' }, '{"hi":"A \\"b\\" <c>"}', 'application/json'],
    [{ body: '{{{request.body}}}' }, '{"name":"A \\"b\\" <c>"}', 'application/json'],
    [
      { body: { hi: 'request.body.name', n: [1, 'true'] } },
      '{"hi":"A \\"b\\" <c>","n":[1,true]}',
      'application/json',
    ],
    [
      { body: '<p>{{input.name}}</p>', contentType: 'text/html; charset=utf-8' },
      '<p>A &quot;b&quot; &lt;c&gt;</p>',
      'text/html; charset=utf-8',
    ],
    [
      { body: 'request.body.name', contentType: 'text/plain' },
      'request.body.name',
      'text/plain; charset=utf-8',
    ],
    [{ body: 'x', contentType: 'Text/CSV; Charset=UTF-8' }, 'x', 'Text/CSV; Charset=UTF-8'],
    [{ body: '<svg/>', contentType: 'image/svg+xml' }, '<svg/>', 'image/svg+xml'],
    [{ body: '' }, '', 'application/json'],
    [{}, '', 'application/json'],
  ])('%j', async (config, body, type) => {
    const response = await respond(config, { json: { name: 'A "b" <c>' } })
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([
      200,
      body,
      type,
    ])
  })

  test('a rendered body that is not JSON is an error, not a guess', async () => {
    for (const body of ['{"hi":{{input.name}}}', '{"hi":"{{{input.name}}}"}', '{"a":1,}'])
      expect((await respond({ body }, { json: { name: 'A "b"' } })).status).toBe(500)
  })

  test('sets status, headers and cookies, but none of the reserved ones', async () => {
    const response = await respond(
      {
        status: 'request.body.status',
        body: '{}',
        headers: {
          'X-Note': 'request.body.note',
          'Set-Cookie': ["'a=1; Domain=x.ch; Path=/'", "'sAccessToken=x'"],
          'content-length': 5,
          location: '/thanks',
          gone: 'null',
        },
      },
      { json: { status: 201, note: 'n' } },
    )
    expect(response.status).toBe(201)
    expect(response.headers.get('x-note')).toBe('n')
    expect(response.headers.get('location')).toBe('/thanks')
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/'])
    expect(response.headers.has('gone')).toBe(false)
  })

  test.each([
    { status: 99 },
    { status: 199 },
    { status: 600 },
    { status: "'x'" },
    { status: 'request.body.split' },
  ])('%j is a fault of the rule', async (config) => {
    expect((await respond({ body: '{}', ...config }, { json: { split: '99' } })).status).toBe(500)
  })

  test.each([{ headers: { 'x-a': 'request.body.split' } }, { headers: { 'b d': '1' } }])(
    'cannot answer with %j',
    async (config) => {
      expect(
        (await respond({ body: '{}', ...config }, { json: { split: 'a\r\nset-cookie: b=1' } })).status,
      ).toBeGreaterThanOrEqual(400)
    },
  )

  test.each(['a\r\nset-cookie: b=1', 'a\n', 'a\0', '\u0001a', 'a\u007f', 'a\u010d\u010ab'])(
    'a header of %j names the header that cannot be sent',
    async (value) => {
      const answer = await respond({ headers: { 'x-a': 'request.body.value' } }, { json: { value } })
      expect(answer.status).toBe(500)
      expect(await answer.json()).toMatchObject({
        message: 'The step sets a header that cannot be sent: x-a',
      })
    },
  )

  test.each<[name: string, location: string]>([
    ['Ann', '/thanks?name=Ann'],
    ['a b', '/thanks?name=a%20b'],
    ['Zoë 日本', '/thanks?name=Zo%C3%AB%20%E6%97%A5%E6%9C%AC'],
    ['a&b=c#d', '/thanks?name=a&b=c#d'],
    ['%41 100% %zz', '/thanks?name=%41%20100%25%20%25zz'],
    [`"'<>\\^\`{|}`, "/thanks?name=%22'%3C%3E%5C%5E%60%7B%7C%7D"],
    ['[::1]~!$()*+,;=:@/?._-', '/thanks?name=[::1]~!$()*+,;=:@/?._-'],
    ['a\r\nset-cookie: b=1', '/thanks?name=a%0D%0Aset-cookie:%20b=1'],
    ['\0\u007f\ud800', '/thanks?name=%00%7F%EF%BF%BD'],
  ])('a location with %j in it is a redirect', async (name, location) => {
    const headers = { Location: '/thanks?name={{input.name}}\n', 'content-location': '{{input.name}}' }
    const response = await respond({ status: 303, headers }, { json: { name } })
    expect([response.status, response.headers.get('location')]).toEqual([303, location])
    expect(response.headers.get('content-location')).toBe(location.slice('/thanks?name='.length))
    expect(response.headers.has('set-cookie')).toBe(false)
  })

  test('204 has no body', async () => {
    const response = await respond({ status: 204, body: '{"a":1}' })
    expect([response.status, await response.text()]).toEqual([204, ''])
  })
})
