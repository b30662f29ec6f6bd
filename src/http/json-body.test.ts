import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

let app: TestApp
let path = ''
beforeAll(async () => {
  app = await testApp()
  const files = { 'index.html': 'docs' }
  const seeded = await seedDeployment(app, { owner: 'acme', repo: 'docs', sha: 'abcdef0', files })
  path = `/api/projects/${seeded.projectId}`
  await app.addUser('root@example.com', 'admin')
})
afterAll(() => app.close())

const patch = async (body: string) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await app.call('PATCH', path, { as: SEED_OWNER, body, headers })
  return { status: answer.status, body: (await answer.json()) as unknown }
}

test.each([
  ['[]', 'Send a JSON object, not a list'],
  ['"x"', 'Send a JSON object, not a string'],
  ['5', 'Send a JSON object, not a number'],
  ['true', 'Send a JSON object, not a boolean'],
])('%s is not a valid body, even if every key is optional', async (body, message) => {
  expect(await patch(body)).toEqual({
    status: 400,
    body: { statusCode: 400, message, error: 'Bad Request', details: [{ path: '', message }] },
  })
})

test('1 MiB is the limit, whatever a path ends in', async () => {
  const as = SEED_OWNER
  const json = { value: 'x'.repeat(1024 * 1024) }
  for (const name of ['MAIL', 'sync'])
    expect((await app.call('PUT', `${path}/secrets/${name}`, { as, json })).status).toBe(413)
})

test('null is not valid either, and an object without keys changes nothing', async () => {
  expect((await patch('null')).status).toBe(400)
  expect((await patch('{}')).status).toBe(200)
})

test.each([
  ['a known field', (inner: string) => `{"displayName":${inner}}`],
  ['an unknown field', (inner: string) => `{"other":${inner}}`],
])('deeply nested %s is rejected before anything walks through it', async (_, bodyWith) => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  expect(await patch(bodyWith(deep))).toMatchObject({
    status: 400,
    body: { message: 'The body is nested more than 200 levels deep' },
  })
})

test.each(['{"toString":1}', '[{"valueOf":"x"}, {"toString":{}}]', '{"to\\u0053tring":1}'])(
  '%s instead of a text is rejected like any other value',
  async (value) => {
    expect(await patch(`{"displayName":${value}}`)).toMatchObject({
      status: 400,
      body: { details: [{ path: 'displayName' }] },
    })
  },
)

test('half of a surrogate pair is refused, as it could not be stored; a whole one is a character', async () => {
  const half = { status: 400, body: { message: expect.stringContaining('half of a surrogate pair') } }
  for (const body of ['{"displayName":"\\ud800x"}', '{"displayName":"\\uDE00\\uD83D"}', '{"\\udfff":1}'])
    expect(await patch(body)).toMatchObject(half)
  expect(await patch('{"displayName":"\\ud83d\\ude00"}')).toMatchObject({
    status: 200,
    body: { displayName: '\u{1f600}' },
  })
})

test.each([
  ['PATCH', '', 'previewDays'],
  ['PUT', '/retention', 'keepLast'],
  ['PUT', '/quota', 'bytes'],
])('%s %s takes a number for %s, not a text of digits', async (method, rest, key) => {
  const send = async (value: unknown) =>
    (await app.call(method, path + rest, { as: 'root@example.com', json: { [key]: value } })).status
  expect([await send('7'), await send(7)]).toEqual([400, 200])
})
