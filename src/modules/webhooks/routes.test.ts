import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type HookApp, hookApp } from '../../testing/hook-app.ts'
import { testApp } from '../../testing/test-app.ts'

let hooks: HookApp
let place: string
beforeAll(async () => {
  hooks = await hookApp()
  place = `/api/projects/${hooks.site.projectId}/webhooks`
})
afterAll(() => hooks.close())

const URL_OK = 'https://chat.example/x'
const make = (json: Record<string, unknown>) =>
  hooks.call('POST', place, { url: URL_OK, events: ['*'], ...json })

test('a record shows no header value and no secret; only the answers that make one do', async () => {
  const hook = await hooks.make({
    url: 'https://chat.example/T00/secret-path',
    name: 'Team',
    headers: { Authorization: 'Bearer 123' },
    events: ['deployment.created', 'deployment.created', 'ping'],
  })
  expect(hook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const { status, body } = await hooks.call('GET', hook.path)
  const { secret: _, path: __, ...record } = hook
  expect([status, body]).toEqual([200, record])
  expect(record).toEqual({
    id: hook.id,
    projectId: hooks.site.projectId,
    name: 'Team',
    url: 'https://chat.example/T00/secret-path',
    events: ['deployment.created', 'ping'],
    kind: 'json',
    headers: { Authorization: '[redacted]' },
    isEnabled: true,
    disabledReason: null,
    createdAt: '2026-11-20T12:00:00.000Z',
    updatedAt: '2026-11-20T12:00:00.000Z',
    lastDelivery: null,
  })
  const list = (await hooks.call('GET', place)).body['webhooks'] as unknown[]
  expect(list).toContainEqual(record)
  const rotated = await hooks.call('POST', `${hook.path}/rotate-secret`)
  expect(rotated.body['secret']).toMatch(/^whsec_/)
  expect(rotated.body['secret']).not.toBe(hook.secret)
})

test('URL, header values and secret are sealed at rest, and the audit log has the origin alone', async () => {
  const hook = await hooks.make({
    url: 'https://sealed.example/in-the-path?token=in-the-query',
    headers: { 'X-Token': 'in-the-header' },
    secret: 'sixteen letters!!',
  })
  await hooks.call('PATCH', hook.path, { url: 'https://sealed.example/in-the-path/2' })
  await hooks.call('POST', `${hook.path}/rotate-secret`)
  await hooks.call('DELETE', hook.path)
  const { sqlite } = hooks.app.ctx.db
  const rows = JSON.stringify([
    sqlite.query('SELECT * FROM webhooks').all(),
    sqlite.query('SELECT * FROM audit_log').all(),
  ])
  for (const secret of ['in-the-path', 'in-the-query', 'in-the-header', 'sixteen letters'])
    expect(rows).not.toContain(secret)
  expect(rows).toContain('https://sealed.example')
  const actions = sqlite
    .query<{ action: string }, [string]>('SELECT action FROM audit_log WHERE target_id = ? ORDER BY rowid')
    .all(hook.id)
  expect(actions.map(({ action }) => action)).toEqual([
    'webhook.create',
    'webhook.change',
    'webhook.rotate-secret',
    'webhook.delete',
  ])
})

const refused: [what: string, json: Record<string, unknown>, code?: string][] = [
  ['no URL', { url: undefined }],
  ['no address', { url: 'chat' }],
  ['user info', { url: 'https://ann:pw@chat.example/' }],
  ['a user name', { url: 'https://ann@chat.example/' }],
  ['empty user info', { url: 'https://@chat.example/' }],
  ['2049 characters', { url: `https://chat.example/${'x'.repeat(2028)}` }],
  ['a fragment', { url: 'https://chat.example/#x' }],
  ['a line break', { url: 'https://chat.example/\nx' }],
  ['another scheme', { url: 'ftp://chat.example/' }, 'PROXY_TARGET_NOT_HTTPS'],
  ['no TLS', { url: 'http://chat.example/' }, 'PROXY_TARGET_NOT_HTTPS'],
  ...['10.0.0.1', '0x0a000001', '167772161', '012.0.0.1', '[::ffff:10.0.0.1]', '169.254.169.254'].map(
    (host): [string, Record<string, unknown>, string] => [
      host,
      { url: `https://${host}/` },
      'PROXY_TARGET_NOT_ALLOWED',
    ],
  ),
  ['no events', { events: [] }],
  ['events that are none', { events: undefined }],
  ['an unknown event', { events: ['deployment.exploded'] }],
  ['* and another', { events: ['*', 'ping'] }],
  ['an unknown kind', { kind: 'irc' }],
  ['a short secret', { secret: 'x'.repeat(15) }],
  ['a long secret', { secret: 'x'.repeat(257) }],
  ['21 headers', { headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, 'x'])) }],
  ...[
    'Host',
    'connection',
    'Transfer-Encoding',
    'Content-Type',
    'content-length',
    'X-Svc-Event',
    'webhook-id',
  ].map((name): [string, Record<string, unknown>] => [name, { headers: { [name]: 'x' } }]),
  ['a list of headers', { headers: [] }],
  ['a list of texts as headers', { headers: ['x'] }],
  ['a text as headers', { headers: '{}' }],
  ['a line break in a name', { headers: { 'x-a\r\nhost: b': 'x' } }],
  ['a line break in a value', { headers: { 'x-a': 'x\r\nhost: b' } }],
  ['one name twice', { headers: { 'x-a': '1', 'X-A': '2' } }],
  ['a redacted value', { headers: { 'x-a': '[redacted]' } }],
]
test.each(refused)('%s is 400, and nothing is kept', async (_what, json, code = 'Bad Request') => {
  const before = (await hooks.call('GET', place)).body
  const { status, body } = await make(json)
  expect([status, body['error']]).toEqual([400, code])
  expect((await hooks.call('GET', place)).body).toEqual(before)
  const hook = await hooks.make()
  const change = await hooks.call('PATCH', hook.path, json)
  if (Object.values(json)[0] !== undefined) expect(change.status).toBe(400)
  await hooks.call('DELETE', hook.path)
})

const kept: [what: string, json: Record<string, unknown>][] = [
  ['a URL of 2048 characters', { url: `https://chat.example/${'x'.repeat(2027)}` }],
  ['a name that does not resolve', { url: 'https://nowhere.example/' }],
  ['a plain target that is named', { url: 'http://127.0.0.1:9/' }],
  ['secrets of 16 and 256 characters', { secret: 'x'.repeat(256) }],
  ['20 headers', { headers: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x-${i}`, 'x'])) }],
]
test.each(kept)('%s is kept', async (_what, json) => {
  const { status, body } = await make(json)
  expect(status).toBe(201)
  await hooks.call('DELETE', `${place}/${body['id']}`)
})

describe('header values', () => {
  const headers = { Authorization: 'Bearer 123', 'X-Team': 'docs' }
  const sentBy = async (path: string) => {
    hooks.receiver.received.length = 0
    await hooks.call('POST', `${path}/test`)
    const [request] = hooks.receiver.received
    return [request?.headers['authorization'], request?.headers['x-team']]
  }

  test('are sent, and kept by [redacted] and by other changes', async () => {
    const hook = await hooks.make({ headers })
    expect(await sentBy(hook.path)).toEqual(['Bearer 123', 'docs'])
    await hooks.call('PATCH', hook.path, { headers: { authorization: '[redacted]' } })
    expect(await sentBy(hook.path)).toEqual(['Bearer 123', undefined])
    await hooks.call('PATCH', hook.path, { url: hooks.receiver.url('/other'), name: 'Other' })
    expect(await sentBy(hook.path)).toEqual(['Bearer 123', undefined])
  })

  test('are dropped by a new origin, unless they are given anew', async () => {
    const hook = await hooks.make({ headers })
    const url = hooks.receiver.url('/', 'a.hooks.test')
    const moved = await hooks.call('PATCH', hook.path, { url })
    expect(moved.body['headers']).toEqual({})
    expect(await sentBy(hook.path)).toEqual([undefined, undefined])
    await hooks.call('PATCH', hook.path, { headers })
    const again = { url: hooks.receiver.url(), headers: { Authorization: '[redacted]', 'X-Team': 'new' } }
    expect((await hooks.call('PATCH', hook.path, again)).body['headers']).toEqual({ 'X-Team': '[redacted]' })
    expect(await sentBy(hook.path)).toEqual([undefined, 'new'])
  })

  test('and what the secret makes are redacted in the request of a delivery', async () => {
    const hook = await hooks.make({ headers })
    const { body } = await hooks.call('POST', `${hook.path}/test`)
    const whole = await hooks.call('GET', `${hook.path}/deliveries/${body['id']}`)
    const request = whole.body['request'] as { headers: Record<string, string>; body: string }
    const sent = hooks.receiver.received.at(-1)
    expect(request.body).toBe(sent?.body ?? '')
    expect(request.headers).toMatchObject({
      Authorization: '[redacted]',
      'X-Team': '[redacted]',
      'x-svc-event': 'ping',
      'x-svc-delivery': body['id'] as string,
      'x-svc-timestamp': String(sent?.headers['x-svc-timestamp']),
      'x-svc-signature-256': '[redacted]',
      'webhook-signature': '[redacted]',
    })
    const text = JSON.stringify(whole.body)
    for (const secret of [hook.secret, 'Bearer 123', String(sent?.headers['webhook-signature'])])
      expect(text).not.toContain(secret)
  })
})

test('there are at most 50 in one place', async () => {
  const app = await testApp()
  try {
    await app.addUser('root@example.com', 'admin')
    const json = { url: URL_OK, events: ['*'] }
    const post = () => app.call('POST', '/api/webhooks', { as: 'root@example.com', json })
    const statuses = await Promise.all(Array.from({ length: 52 }, async () => (await post()).status))
    expect(statuses.filter((status) => status === 201)).toHaveLength(50)
    expect(await (await post()).json()).toMatchObject({ statusCode: 409, error: 'TOO_MANY_WEBHOOKS' })
  } finally {
    app.close()
  }
})

test('a hook is found only at its own place', async () => {
  const hook = await hooks.make()
  const delivery = (await hooks.call('POST', `${hook.path}/test`)).body['id']
  const other = await hooks.make()
  const ofWorkspace = await hooks.make({}, '/api/webhooks')
  const missing: [method: string, path: string][] = [
    ['GET', `/api/webhooks/${hook.id}`],
    ['PATCH', `/api/webhooks/${hook.id}`],
    ['DELETE', `/api/webhooks/${hook.id}`],
    ['GET', `${place}/${ofWorkspace.id}`],
    ['POST', `${place}/${ofWorkspace.id}/test`],
    ['GET', `${other.path}/deliveries/${delivery}`],
    ['POST', `${other.path}/deliveries/${delivery}/resend`],
    ['GET', `${place}/nothing`],
  ]
  for (const [method, path] of missing)
    expect([path, (await hooks.call(method, path, method === 'GET' ? undefined : {})).status]).toEqual([
      path,
      404,
    ])
})

test('deliveries come in pages, newest first, filtered by status', async () => {
  const hook = await hooks.make()
  for (let i = 0; i < 3; i += 1) await hooks.call('POST', `${hook.path}/test`)
  hooks.receiver.answerWith((_request, response) => void response.writeHead(500).end())
  await hooks.call('POST', `${hook.path}/test`)
  hooks.receiver.answerWith((_request, response) => void response.writeHead(204).end())
  const list = async (query: string) => (await hooks.call('GET', `${hook.path}/deliveries?${query}`)).body
  const all = await list('limit=3')
  expect(all['pagination']).toEqual({ page: 1, limit: 3, total: 4, pages: 2 })
  expect((all['data'] as { status: string }[]).map(({ status }) => status)).toEqual([
    'failed',
    'delivered',
    'delivered',
  ])
  expect((await list('status=failed'))['pagination']).toMatchObject({ total: 1 })
  expect((await list('status=lost'))['statusCode']).toBe(400)
})

test('a project called webhooks is still found by its name', async () => {
  await hooks.call('POST', '/api/projects', { owner: 'team', name: 'webhooks' })
  expect((await hooks.call('GET', '/api/projects/team/webhooks')).body['name']).toBe('webhooks')
})

test('a hook whose address the key does not open can be seen, given another and deleted', async () => {
  const hook = await hooks.make()
  hooks.app.ctx.db.sqlite.run("UPDATE webhooks SET sealed_url = 'v1.00000000.AAAA' WHERE id = ?", [hook.id])
  expect((await hooks.call('GET', hook.path)).body['url']).toBe('')
  const tested = await hooks.call('POST', `${hook.path}/test`)
  expect([tested.status, tested.body['status']]).toEqual([200, 'failed'])
  const url = hooks.receiver.url()
  expect((await hooks.call('PATCH', hook.path, { url })).body['url']).toBe(url)
  hooks.app.ctx.db.sqlite.run("UPDATE webhooks SET sealed_url = 'v1.00000000.AAAA' WHERE id = ?", [hook.id])
  expect((await hooks.call('DELETE', hook.path)).status).toBe(204)
})
