import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp, type RunOptions, step } from '../../testing/pipeline-app.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const form = (fields: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  step('form', 'form_handler', { fields, ...more })
const urlencoded = (text: string): RunOptions => ({
  body: text,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})
const multipart = (fields: Record<string, string | Blob>): RunOptions => {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  return { body }
}
const data = (value: unknown) => ({ status: 200, body: { success: true, data: value } })

describe('a name that is sent several times', () => {
  const fields = {
    tick: { type: 'boolean' },
    text: { type: 'string' },
    n: { type: 'integer' },
    any: { type: 'json' },
  }
  const sent = (body: string) =>
    app.answer([step('form', 'form_handler', { fields, honeypotField: 'trap' })], {
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  const none = { tick: null, text: null, n: null, any: null }

  test.each<[string, Record<string, unknown>]>([
    ['tick=0&tick=1', { tick: true }],
    ['tick=0', { tick: false }],
    ['tick=on&tick=0', { tick: false }],
    ['tick=false&tick=false&tick=on', { tick: true }],
    ['tick=1&tick=', {}],
    ['text=a&text=a', { text: 'a' }],
    ['text=&text=', {}],
    ['n=5&n=5&n=5', { n: 5 }],
    ['trap=&trap=&n=1', { n: 1 }],
  ])('%s', async (body, values) => {
    expect(await sent(body)).toEqual({ status: 200, body: { success: true, data: { ...none, ...values } } })
  })

  test.each([
    ['text=a&text=b', 'text'],
    ['text=a&text=', 'text'],
    ['n=5&n=6', 'n'],
    ['n=5&n=5.0', 'n'],
    ['tick=0&tick=maybe', 'tick'],
  ])('%s is 400', async (body, path) => {
    expect(await sent(body)).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  test('a list in JSON is no value of a scalar', async () => {
    for (const json of [{ tick: [false, true] }, { text: ['a', 'a'] }])
      expect(await app.answer([step('form', 'form_handler', { fields })], { json })).toMatchObject({
        status: 400,
      })
    expect(await sent('trap=&trap=x')).toEqual({ status: 200, body: { success: true } })
  })
})

describe('form_handler', () => {
  const FIELDS = {
    name: { type: 'string', required: true, min: 2, max: 5 },
    age: { type: 'integer', min: 18 },
    email: { type: 'email' },
    agreed: { type: 'boolean' },
    day: { type: 'date' },
    extra: { type: 'json' },
    color: { type: 'string', default: 'red', pattern: '[a-z]+' },
    at: { type: 'string', default: 'now()' },
  }
  const absent = {
    age: null,
    email: null,
    agreed: null,
    day: null,
    extra: null,
    color: 'red',
    at: '2026-11-20T12:00:00.000Z',
  }

  test.each<[what: string, options: RunOptions, output: unknown]>([
    [
      'JSON with types',
      { json: { name: 'Ann', age: 20, agreed: true, extra: { a: [1] }, more: 1 } },
      { ...absent, name: 'Ann', age: 20, agreed: true, extra: { a: [1] } },
    ],
    [
      'urlencoded text, converted',
      urlencoded('name=Ann&age=20&agreed=on&extra=%5B1%5D&email=&day=2026-11-20'),
      { ...absent, name: 'Ann', age: 20, agreed: true, extra: [1], day: '2026-11-20' },
    ],
    ['multipart', multipart({ name: 'Ann', age: '33' }), { ...absent, name: 'Ann', age: 33 }],
    [
      'a beacon: JSON called text',
      { body: '{"name":"Ann"}', headers: { 'content-type': 'text/plain;charset=UTF-8' } },
      { ...absent, name: 'Ann' },
    ],
    [
      'the query of a GET',
      { method: 'GET', path: '/api/x?name=Ann&age=44' },
      { ...absent, name: 'Ann', age: 44 },
    ],
    ['null is absent', { json: { name: 'Ann', age: null } }, { ...absent, name: 'Ann' }],
    [
      'fields are only what was sent',
      { json: JSON.parse('{"name":"Ann","__proto__":{"age":99}}') },
      { ...absent, name: 'Ann' },
    ],
  ])('takes %s', async (_, options, output) => {
    expect(await app.answer([form(FIELDS)], options)).toEqual(data(output))
  })

  test.each<[what: string, options: RunOptions, paths: string[]]>([
    ['nothing', {}, ['name']],
    ['an empty text', urlencoded('name='), ['name']],
    [
      'every wrong field',
      { json: { name: 'A', age: 'x', email: 'x', agreed: 'yes', day: 'x', color: 'R2' } },
      ['name', 'age', 'email', 'agreed', 'day', 'color'],
    ],
    ['text where JSON has numbers', { json: { name: 'Ann', age: '20' } }, ['age']],
    ['too long, too small', { json: { name: 'Anneke', age: 17 } }, ['name', 'age']],
    ['a pattern that fits in part', { json: { name: 'Ann', color: 'red!' } }, ['color']],
    ['a field sent twice', urlencoded('name=a1&name=b2'), ['name']],
    ['a file', multipart({ name: new Blob(['x']) }), ['name']],
  ])('refuses %s', async (_, options, paths) => {
    const { status, body } = await app.answer([form(FIELDS)], options)
    expect(status).toBe(400)
    expect(body).toMatchObject({ statusCode: 400, error: 'Bad Request', step: 'form' })
    expect((body as { details: { path: string }[] }).details.map(({ path }) => path)).toEqual(paths)
  })

  test.each<[what: string, options: RunOptions, status: number]>([
    ['other text', { body: 'hello', headers: { 'content-type': 'text/plain' } }, 400],
    ['a list', { json: [1] }, 400],
    ['broken JSON', { body: '{"name":', headers: { 'content-type': 'application/json' } }, 400],
    ['broken multipart', { body: 'x', headers: { 'content-type': 'multipart/form-data; boundary=b' } }, 400],
    [
      'nesting without end',
      { body: '['.repeat(100_000), headers: { 'content-type': 'application/json' } },
      400,
    ],
    ['another type', { body: '<a/>', headers: { 'content-type': 'application/xml' } }, 415],
    ['bytes', { body: new Uint8Array(9), headers: { 'content-type': 'application/octet-stream' } }, 415],
  ])('%s is refused with the right status', async (_, options, status) => {
    const answer = await app.answer([form(FIELDS)], options)
    expect(answer).toMatchObject({ status, body: { statusCode: status, step: 'form' } })
  })

  test('a default gets the type of its field', async () => {
    const fields = {
      zip: { type: 'string', default: '8001' },
      code: { type: 'string', default: '007' },
      word: { type: 'string', default: 'true' },
      page: { type: 'integer', default: 'request.query.page' },
      ticked: { type: 'boolean', default: "'on'" },
      extra: { type: 'json', default: "'[1]'" },
    }
    expect(await app.answer([form(fields)], { path: '/api/x?page=3', json: {} })).toEqual(
      data({ zip: '8001', code: '007', word: 'true', page: 3, ticked: true, extra: '[1]' }),
    )
  })

  const DEFAULTS = {
    count: { type: 'integer', max: 10, default: 'request.query.count' },
    name: { type: 'string', min: 3, pattern: '[a-z]+', default: '{{request.query.name}}' },
    mail: { type: 'email', default: 'request.query.mail' },
    text: { type: 'string', default: 'request.query' },
  }
  test.each<[query: string, paths: string[]]>([
    ['', ['text']],
    ['?count=7&name=ann&mail=a@b.ch', ['text']],
    ['?count=abc&name=an&mail=nobody', ['count', 'name', 'mail', 'text']],
    ['?count=11&name=Ann', ['count', 'name', 'text']],
  ])('a default of the query %p must fit the field', async (query, paths) => {
    const answer = await app.answer([form(DEFAULTS)], { path: `/api/x${query}`, json: {} })
    const { status, body } = answer as { status: number; body: { details: { path: string }[] } }
    expect([status, body.details.map(({ path }) => path)]).toEqual([400, paths])
  })

  test('an empty default is none, but of a text', async () => {
    const fields = {
      count: { type: 'integer', min: 1, default: 'request.query.count' },
      note: { type: 'string', min: 3, pattern: '[a-z]+', default: "''" },
      sure: { type: 'boolean', required: true, default: 'request.query.count' },
    }
    const answer = await app.answer([form(fields)], { path: '/api/x?count=', json: { sure: true } })
    expect(answer).toEqual(data({ count: null, note: '', sure: true }))
    expect(await app.answer([form(fields)], { path: '/api/x?count=', json: {} })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'sure', message: 'sure is required' }] },
    })
  })

  test('a file input without a file is absent', async () => {
    const fields = { title: { type: 'string' }, photo: { type: 'json', required: true } }
    const part = (file: string, bytes: string) =>
      `--b\r\ncontent-disposition: form-data; name="photo"; filename="${file}"\r\ncontent-type: image/png\r\n\r\n${bytes}\r\n--b--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    expect(await app.answer([form(fields)], { body: part('', ''), headers })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'photo', message: 'photo is required' }] },
    })
    expect(await app.answer([form(fields)], { body: part('a.png', ''), headers })).toEqual(
      data({ title: null, photo: { filename: 'a.png', contentType: 'image/png', size: 0 } }),
    )
  })

  test('a body over 10 MiB is 413, with and without its length', async () => {
    const large = 'x'.repeat(10 * 1024 * 1024)
    const json = { 'content-type': 'application/json' }
    expect((await app.run([form(FIELDS)], { body: `"${large}"`, headers: json })).status).toBe(413)
    const stream = new Blob([`"${large}"`]).stream()
    expect((await app.run([form(FIELDS)], { body: stream, headers: json })).status).toBe(413)
    expect((await app.run([form(FIELDS)], multipart({ name: large }))).status).toBe(413)
  })

  test('an urlencoded form has at most 10,000 fields', async () => {
    const fields = (count: number) => urlencoded(`name=Ann${'&%'.repeat(count - 1)}`)
    expect((await app.run([form(FIELDS)], fields(10_000))).status).toBe(200)
    expect((await app.run([form(FIELDS)], fields(10_001))).status).toBe(413)
  })

  test('a filled honeypot gets a success response, and nothing happens', async () => {
    const id = app.addSchema('leads', [{ name: 'name', type: 'string' }])
    const steps = [
      form({ name: { type: 'string', required: true } }, { honeypotField: 'website' }),
      step('save', 'data_create', { schemaId: id, fields: { name: 'steps.form.name' } }),
    ]
    const postSteps = [step('later', 'data_create', { schemaId: id, fields: { name: 'late' } })]
    const caught = await app.answer({ steps, postSteps }, { json: { website: 'http://spam' } })
    expect(caught).toEqual({ status: 200, body: { success: true } })
    expect(app.stored(id)).toEqual([])
    expect((await app.answer(steps, { json: { name: 'Ann', website: '' } })).status).toBe(200)
    expect(app.stored(id)).toEqual([{ name: 'Ann' }])
  })

  test.each(['title|price', '[a-z]+|x', '(a+)+|b'])(
    'abuse: %s is not shown to people who guess',
    async (pattern) => {
      const message = 'a does not have the right form'
      const answer = await app.answer([form({ a: { type: 'string', pattern } })], { json: { a: 'STOCK' } })
      expect(answer).toMatchObject({ status: 400, body: { message, details: [{ path: 'a', message }] } })
    },
  )

  test('with failOnError: false errors can go to a page, and invalid values are not passed on', async () => {
    const fields = {
      name: { type: 'string', required: true, max: 5 },
      age: { type: 'integer' },
      code: { type: 'string', pattern: '(a+)+' },
    }
    const steps = [form(fields, { failOnError: false })]
    expect(await app.answer(steps, urlencoded('name=Annabel&age=x&code=b'))).toEqual(
      data({
        name: null,
        age: null,
        code: null,
        errors: {
          name: 'name must be at most 5 characters',
          age: 'age must be a whole number',
          code: 'code does not have the right form',
        },
      }),
    )
    expect(await app.answer(steps, urlencoded('name=Ann&age=5&code=aa'))).toEqual(
      data({ name: 'Ann', age: 5, code: 'aa', errors: null }),
    )
    const page = [
      ...steps,
      step('r', 'response_handler', {
        condition: 'steps.form.errors',
        status: 400,
        contentType: 'text/html',
        body: '{{steps.form.errors.name}} <input value="{{input.name}}">',
      }),
    ]
    const refused = await app.run(page, urlencoded('name=%22%3E%3Cscript%3E'))
    expect([refused.status, await refused.text()]).toEqual([
      400,
      'name must be at most 5 characters <input value="&quot;&gt;&lt;script&gt;">',
    ])
    expect((await app.run(steps, { body: 'x', headers: { 'content-type': 'text/plain' } })).status).toBe(400)
  })

  test('a pattern with catastrophic backtracking does not stall the server', async () => {
    const steps = [form({ a: { type: 'string', pattern: '(a+)+' } })]
    const slow = app.run(steps, { json: { a: `${'a'.repeat(40)}b` } })
    expect((await app.run(steps, { json: { a: 'aaa' } })).status).toBe(200)
    expect([400, 500]).toContain((await slow).status)
  })
})

test('an aborted body is 400, not a server error', async () => {
  const said = app.lines.length
  for (const type of ['application/json', 'multipart/form-data; boundary=x']) {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('gone')) })
    const answer = await app.run([step('f', 'form_handler', { fields: {} })], {
      body,
      headers: { 'content-type': type },
    })
    expect(answer.status).toBe(400)
  }
  expect(app.lines.slice(said)).toEqual([])
})
