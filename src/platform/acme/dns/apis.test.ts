import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createTestCa } from '../../../testing/test-ca.ts'
import { createOutbound, type Outbound } from '../../outbound.ts'
import { cloudflareProvider } from './cloudflare.ts'
import { hetznerProvider } from './hetzner.ts'
import type { DnsProvider } from './provider.ts'

const TOKEN = 'token-that-nobody-sees'
const NAME = '_acme-challenge.sites.example.com'
const signal = new AbortController().signal

type Call = { call: string; body: unknown }
let calls: Call[] = []
let answer: (call: string) => Response | undefined = () => undefined
let base: string
let outbound: Outbound
const ca = createTestCa()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  tls: ca.issue({ names: ['127.0.0.1'] }),
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const call = `${request.method} ${pathname}${search}`
    const text = await request.text()
    calls.push({ call, body: text === '' ? null : JSON.parse(text) })
    if (request.headers.get('authorization') !== `Bearer ${TOKEN}`)
      return Response.json({ error: { message: 'who?' } }, { status: 401 })
    return answer(call) ?? Response.json({ success: true, result: [], zones: [] })
  },
})
beforeAll(() => {
  base = `https://127.0.0.1:${server.port}/api/`
  outbound = createOutbound({ allowedTargets: ['127.0.0.1'], extraCaPem: ca.pem })
})
afterEach(() => {
  calls = []
})
afterAll(async () => {
  outbound.close()
  await server.stop(true)
})

const cloudflare = (token = TOKEN) => cloudflareProvider({ outbound, base, token })
const hetzner = (token = TOKEN) => hetznerProvider({ outbound, base, token })
const told = () => calls.map(({ call }) => call)

test('Cloudflare: the longest zone, a quoted value with TTL 60, and that record is deleted', async () => {
  answer = (call) => {
    if (call === 'GET /api/zones?name=example.com')
      return Response.json({ result: [{ id: 'z1', name: 'example.com' }] })
    if (call.startsWith('POST')) return Response.json({ result: { id: 'r1' } })
    return undefined
  }
  const provider = cloudflare()
  await provider.set(NAME, 'v1', signal)
  await provider.remove(NAME, 'v1', signal)
  expect(told()).toEqual([
    `GET /api/zones?name=${NAME}`,
    'GET /api/zones?name=sites.example.com',
    'GET /api/zones?name=example.com',
    'POST /api/zones/z1/dns_records',
    'DELETE /api/zones/z1/dns_records/r1',
  ])
  expect(calls[3]?.body).toEqual({ type: 'TXT', name: NAME, content: '"v1"', ttl: 60 })
})

test('Cloudflare: after a crash the record is found by its value', async () => {
  answer = (call) => {
    if (call.startsWith('GET /api/zones?name=sites')) return Response.json({ result: [{ id: 'z2' }] })
    if (call.startsWith('GET /api/zones/z2/dns_records?'))
      return Response.json({
        result: [
          { id: 'a', content: '"other"' },
          { id: 'b', content: '"v1"' },
        ],
      })
    return undefined
  }
  await cloudflare().remove(NAME, 'v1', signal)
  expect(told().filter((call) => call.startsWith('DELETE'))).toEqual(['DELETE /api/zones/z2/dns_records/b'])
})

test('Hetzner: records are added to and removed from the set of the name', async () => {
  answer = (call) =>
    call === 'GET /api/zones?name=example.com'
      ? Response.json({ zones: [{ id: 42, name: 'example.com' }] })
      : undefined
  await hetzner().set(NAME, 'v1', signal)
  await hetzner().remove(NAME, 'v1', signal)
  const at = '/api/zones/42/rrsets/_acme-challenge.sites/TXT/actions'
  const records = [{ value: '"v1"' }]
  expect(calls.filter(({ call }) => call.startsWith('POST'))).toEqual([
    { call: `POST ${at}/add_records`, body: { ttl: 60, records } },
    { call: `POST ${at}/remove_records`, body: { records } },
  ])
})

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => '',
    (error) => String(error.message),
  )

const providers: [string, (token?: string) => DnsProvider][] = [
  ['Cloudflare', cloudflare],
  ['Hetzner', hetzner],
]
test.each(providers)(
  '%s: no zone, a bad token and an error are named, without the token',
  async (label, make) => {
    answer = () => undefined
    expect(await messageOf(make().set(NAME, 'v', signal))).toContain(`sees no zone of ${NAME} at ${label}`)
    expect(await messageOf(make('wrong-token').set(NAME, 'v', signal))).toMatch(
      /answered 401 to GET .*: who\?/,
    )
    answer = () => Response.json({ errors: [{ message: `bad ${TOKEN}` }] }, { status: 400 })
    const said = await messageOf(make().set(NAME, 'v', signal))
    expect(said).toContain('400')
    expect(said).not.toContain(TOKEN)
    answer = () => new Response('x'.repeat(2_000_000))
    expect(await messageOf(make().set(NAME, 'v', signal))).toContain('could not be asked')
  },
)
