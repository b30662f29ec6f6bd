import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { StoreActivity } from '../../platform/object-store/activity.ts'
import { openObjectStore } from '../../platform/object-store.ts'
import { STORE_KEYS, startObjectServer } from '../../testing/object-server.ts'
import { storeApp } from '../../testing/store-app.ts'
import { type CallOptions, type TestApp, testApp } from '../../testing/test-app.ts'

let app: TestApp
let open: TestApp
beforeAll(async () => {
  app = await testApp({ METRICS_TOKEN: 'watch-me' })
  open = await testApp()
  await app.addUser('root@example.com', 'admin')
  await open.addUser('root@example.com', 'admin')
})
afterAll(() => {
  app.close()
  open.close()
})

describe('access', () => {
  const stranger = { from: '203.0.113.9' }
  const rows: [what: string, token: boolean, options: CallOptions, status: number][] = [
    ['this machine', false, {}, 200],
    ['this machine by IPv6', true, { from: '::1' }, 200],
    ['a proxy on this machine', false, { headers: { 'x-forwarded-for': '203.0.113.9' } }, 401],
    ['a proxy that only says Via', true, { headers: { via: '1.1 proxy' } }, 401],
    ['a stranger', false, stranger, 401],
    [
      'a stranger with any token where none is set',
      false,
      { ...stranger, headers: { authorization: 'Bearer ' } },
      401,
    ],
    ['a stranger with the token', true, { ...stranger, headers: { authorization: 'Bearer watch-me' } }, 200],
    ['a stranger with another', true, { ...stranger, headers: { authorization: 'Bearer watch-me!' } }, 401],
    [
      'a stranger with the token as a password',
      true,
      { ...stranger, headers: { authorization: 'Basic watch-me' } },
      401,
    ],
    ['a global admin from elsewhere', true, { ...stranger, as: 'root@example.com' }, 401],
  ]
  test.each(rows)('%s', async (_what, hasToken, options, status) => {
    expect((await (hasToken ? app : open).call('GET', '/metrics', options)).status).toBe(status)
  })
})

test('the Prometheus text format', async () => {
  await app.call('GET', '/api/nothing')
  const answer = await app.call('GET', '/metrics')
  const text = await answer.text()
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  for (const line of text.split('\n').slice(0, -1))
    expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"\})? [\d.e+-]+)$/)
  expect(text).toContain('svc_info{version="0.0.0-test"} 1\n')
  expect(text).toContain('svc_http_requests_total{status="404"} 1\n')
  expect(text).toMatch(/svc_http_request_duration_seconds_bucket\{le="\+Inf"\} \d+\n/)
  expect(text).toContain('svc_users 1\n')
  expect(text).toContain('svc_buffered_body_bytes 0\n')
  for (const reason of ['room', 'pace'])
    expect(text).toContain(`svc_buffered_body_refusals_total{reason="${reason}"} 0\n`)
  expect(text).toContain('svc_api_keys_suspended 0\n')
  expect(text).toMatch(/svc_disk_free_bytes [1-9]\d+\n/)
  expect(text).not.toContain('svc_backup_timestamp_seconds')
})

test('metrics are read-only', async () => {
  const answer = await app.call('POST', '/metrics')
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

test('on a site, /metrics is a file of the site', async () => {
  expect((await app.call('GET', '/metrics', { host: 'nothing.localhost' })).status).toBe(404)
})

describe('of a machine of an object store', () => {
  test('what it is, what it asked the store for, and its cache', async () => {
    const server = startObjectServer()
    const activity = new StoreActivity()
    const store = openObjectStore({
      ...{ ...STORE_KEYS, bucket: 'bucket', prefix: '', endpoint: server.endpoint },
      ...{ timeoutMs: 1_000, now: Date.now, writer: 'w1' },
      onRequest: (op, result, ms) => activity.note(op, result, ms),
    })
    const machine = await storeApp({}, { isOnDisk: false, store: { store, epoch: () => 3 } })
    Object.assign(machine.ctx.machine ?? {}, { activity })
    const tookOver = machine.ctx.db.sqlite.prepare(
      `INSERT INTO machine_epochs (epoch, machine, writer, reason, at) VALUES (?, 'one', ?, 'start', 0)`,
    )
    for (const [epoch, writer] of ['another', 'w1', 'w1'].entries()) tookOver.run(epoch + 1, writer)
    await store.create('packs/a', new Uint8Array(3), { epoch: 1 })
    await store.head('packs/a')
    await store.head('packs/b')
    const text = await (await machine.call('GET', '/metrics')).text()
    for (const line of [
      'svc_role{role="primary"} 1',
      'svc_epoch 3',
      'svc_log_number 7',
      'svc_store_up 1',
      'svc_store_requests_total{op="create",result="ok"} 1',
      // What is missing is looked for with its bucket.
      'svc_store_requests_total{op="head",result="ok"} 2',
      'svc_store_requests_total{op="head",result="404"} 1',
      'svc_store_request_duration_seconds_bucket{le="+Inf"} 4',
      'svc_store_request_duration_seconds_count 4',
      'svc_store_cache_bytes 0',
      'svc_store_cache_hits_total 0',
      'svc_store_cache_misses_total 0',
      'svc_forwarded_requests_total{result="answered"} 0',
      'svc_forwarded_requests_total{result="unreachable"} 0',
      'svc_takeovers_total 2',
    ])
      expect(text).toContain(`${line}\n`)
    machine.close()
    await server.stop()
  })

  test('nothing of it without one', async () => {
    const text = await (await app.call('GET', '/metrics')).text()
    expect(text).not.toMatch(/svc_(role|epoch|log_(number|lag|unshipped)|store|forwarded|takeovers)/)
  })
})
