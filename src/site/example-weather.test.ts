import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { BACKEND, type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'

/** The example site's rule for a public API, with a local stand-in for the API. */
const RULE = join(
  import.meta.dir,
  '../../examples/guestbook/.svc/proxy-rules/guestbook/rules/api/weather/get.rule.yaml',
)
const ANSWER = '{"current":{"temperature_2m":3.4,"wind_speed_10m":12.6}}'

let fixture: ProxyFixture
let standIn: Server
let seen: { url: string | undefined; headers: IncomingHttpHeaders }[] = []

beforeAll(async () => {
  fixture = await proxyFixture()
  standIn = createServer(fixture.certificate, (request, response) => {
    seen.push({ url: request.url, headers: request.headers })
    response.setHeader('content-type', 'application/json').end(ANSWER)
  })
  await new Promise<void>((resolve) => standIn.listen(0, '127.0.0.1', resolve))
  const { port } = standIn.address() as AddressInfo
  const rule = Bun.YAML.parse(readFileSync(RULE, 'utf8')) as { targetUrl: string }
  const target = new URL(rule.targetUrl)
  expect(target.origin).toBe('https://api.open-meteo.com')
  const targetUrl = `https://${BACKEND}:${port}${target.pathname}${target.search}`
  await fixture.rule({ ...rule, pathPattern: '/api/weather', method: 'GET', targetUrl })
})
afterAll(async () => {
  standIn.closeAllConnections()
  standIn.close()
  await fixture.close()
})

test('the page gets the weather from its own address, and the API learns little about the visitor', async () => {
  const headers = { accept: '*/*', cookie: 'sAccessToken=x; a=b', 'user-agent': 'a browser', referer: 'x' }
  const got = await fixture.send('/api/weather', { headers })
  expect([got.status, got.text]).toEqual([200, ANSWER])
  const [request] = seen
  expect(request?.url).toBe(
    '/v1/forecast?latitude=46.56&longitude=8.34&current=temperature_2m,wind_speed_10m',
  )
  expect(Object.keys(request?.headers ?? {}).sort()).toEqual([
    'accept',
    'host',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
  ])
})

test('other methods do not match the rule', async () => {
  seen = []
  const got = await fixture.send('/api/weather', { method: 'POST', body: 'x' })
  expect(got.status).toBe(405)
  expect(seen).toEqual([])
})

test('an unreachable API is a 502, which the page shows as no weather', async () => {
  standIn.closeAllConnections()
  await new Promise((resolve) => standIn.close(resolve))
  const got = await fixture.send('/api/weather')
  expect([got.status, JSON.parse(got.text).error]).toEqual([502, 'Bad Gateway'])
})
