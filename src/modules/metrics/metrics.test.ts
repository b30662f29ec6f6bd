import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
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
