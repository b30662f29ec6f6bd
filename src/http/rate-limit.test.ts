import { expect, test } from 'bun:test'
import { testApp } from '../testing/test-app.ts'
import { createRateLimiter } from './rate-limit.ts'

test('requests count within a minute, and the next minute starts at zero', () => {
  let at = 120_000
  const limiter = createRateLimiter(2, () => at)
  expect(limiter.take('a')).toMatchObject({ limit: 2, remaining: 1, isOver: false, resetSeconds: 180 })
  expect(limiter.take('a')).toMatchObject({ remaining: 0, isOver: false })
  expect(limiter.take('a')).toMatchObject({ remaining: 0, isOver: true, retryAfterSeconds: 60 })
  expect(limiter.take('b').isOver).toBe(false)
  at += 60_000
  expect(limiter.take('a')).toMatchObject({ remaining: 1, isOver: false })
})

test('a clock that is set back does not block anybody until it has caught up', () => {
  let at = 10 * 3_600_000
  const limiter = createRateLimiter(1, () => at)
  limiter.take('a')
  expect(limiter.take('a').isOver).toBe(true)
  at -= 3_600_000
  expect(limiter.take('a')).toMatchObject({ remaining: 0, isOver: false, retryAfterSeconds: 60 })
  expect(limiter.take('a').isOver).toBe(true)
})

test('every API response has the three headers, and 429 follows above the limit', async () => {
  const app = await testApp({ RATE_LIMIT_API: '2' })
  const first = await app.call('GET', '/api/setup/status')
  expect(first.headers.get('x-ratelimit-limit')).toBe('2')
  expect(first.headers.get('x-ratelimit-remaining')).toBe('1')
  expect(Number(first.headers.get('x-ratelimit-reset'))).toBe(app.ctx.now() / 1000 + 60)
  const unknown = await app.call('GET', '/api/nothing')
  expect(unknown.status).toBe(404)
  expect(unknown.headers.get('x-ratelimit-remaining')).toBe('0')

  const over = await app.call('GET', '/api/setup/status')
  expect(over.status).toBe(429)
  expect(over.headers.get('retry-after')).toBe('60')
  expect(await over.json()).toMatchObject({ statusCode: 429, error: 'Too Many Requests' })
  expect((await app.call('GET', '/api/setup/status', { from: '10.0.0.9' })).status).toBe(200)
  expect((await app.call('GET', '/api/health')).headers.has('x-ratelimit-limit')).toBe(false)
  app.close()
})

test('requests rejected before their route count too, and health checks do not', async () => {
  const app = await testApp({ RATE_LIMIT_API: '1' })
  const headers = { cookie: 'sAccessToken=stale', origin: 'https://elsewhere.example' }
  const ask = (path: string) => app.call('POST', path, { headers })
  const refused = await ask('/api/projects')
  expect(await refused.json()).toMatchObject({ statusCode: 403, error: 'CROSS_ORIGIN_REQUEST' })
  expect(refused.headers.get('x-ratelimit-limit')).toBe('1')
  expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
  for (const path of ['/api/projects', '/api/nothing']) {
    const over = await ask(path)
    expect([over.status, over.headers.get('x-ratelimit-remaining')]).toEqual([429, '0'])
  }
  expect((await ask('/api/health')).headers.has('x-ratelimit-limit')).toBe(false)
  app.close()
})

test('an address in X-Forwarded-For counts only if the peer is one of our proxies', async () => {
  const app = await testApp({ RATE_LIMIT_API: '1', TRUST_PROXY: '10.0.0.0/8' })
  const ask = (from: string, forwardedFor: string) =>
    app.call('GET', '/api/setup/status', { from, headers: { 'x-forwarded-for': forwardedFor } })
  expect((await ask('10.0.0.1', '203.0.113.1')).status).toBe(200)
  expect((await ask('10.0.0.2', '203.0.113.1, 10.0.0.9')).status).toBe(429)
  expect((await ask('10.0.0.1', '203.0.113.2, 203.0.113.1')).status).toBe(429)
  expect((await ask('198.51.100.7', '203.0.113.50')).status).toBe(200)
  expect((await ask('198.51.100.7', '203.0.113.51')).status).toBe(429)
  app.close()
})

test('every notation that our proxies use is understood, and nothing before it is trusted', async () => {
  const app = await testApp({ RATE_LIMIT_API: '1', TRUST_PROXY: '10.0.0.0/8' })
  const ask = (forwardedFor: string) =>
    app.call('GET', '/api/setup/status', { from: '10.0.0.1', headers: { 'x-forwarded-for': forwardedFor } })
  expect((await ask('198.51.100.1, 203.0.113.1:4711')).status).toBe(200)
  expect((await ask('198.51.100.2, 203.0.113.1:4712, 10.0.0.9:80, ')).status).toBe(429)
  expect((await ask('198.51.100.3, [2001:db8::1]:4711')).status).toBe(200)
  expect((await ask('198.51.100.4, 2001:db8::1')).status).toBe(429)
  expect((await ask('198.51.100.4, [2001:db8::1]')).status).toBe(429)
  expect((await ask('2001:db8::2')).status).toBe(429)
  expect((await ask('2001:db8:0:1::2')).status).toBe(200)
  expect((await ask('198.51.100.5, unknown')).status).toBe(200)
  expect((await ask('198.51.100.6, unknown')).status).toBe(429)
  app.close()
})
