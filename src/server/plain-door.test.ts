import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { noCertificates } from '../platform/certificates.ts'
import { ask } from '../testing/ask.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'
import { createPlainDoor } from './plain-door.ts'

const TOKEN = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr_oA'
const ADMIN = 'admin.sites.test'
const ROOT = 'root@example.com'
const SEED = {
  owner: 'acme',
  repo: 'docs',
  sha: '1'.repeat(40),
  alias: 'production',
  files: { 'index.html': '<h1>home</h1>' },
}

let app: TestApp
let site: Seeded
let aliasHost = ''
let plain: Bun.Server<undefined>
let isTlsOpen = true
const visited: string[] = []

beforeAll(async () => {
  app = await testApp({ TLS: 'auto', BASE_DOMAIN: 'sites.test', PORT: '8443' })
  app.ctx.certificates = {
    ...noCertificates,
    all: () => [{ hosts: [ADMIN, 'www.example.test'], certPem: '', keyPem: '', expiresAt: 0 }],
    challengeAnswer: (host, token) =>
      host === 'www.example.test' && token === TOKEN ? `${TOKEN}.thumb` : undefined,
    visited: (host) => void visited.push(host),
  }
  site = await seedDeployment(app, SEED)
  aliasHost = site.aliasHost ?? ''
  await app.addUser(ROOT, 'admin')
  for (const [hostname, verified] of [
    ['www.example.test', true],
    ['late.example.test', true],
    ['stranger.example.test', false],
  ] as const) {
    const json = { projectId: site.projectId, hostname, alias: 'production', verified }
    expect((await ask(app, 'POST', '/api/domains', { as: ROOT, json })).status).toBe(201)
  }
  const door = createPlainDoor(
    () => app.ctx,
    app.app,
    () => isTlsOpen,
  )
  plain = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, server) =>
      door(request, {
        address: request.headers.get('x-test-peer') ?? server.requestIP(request)?.address ?? '',
      }),
  })
})
afterAll(async () => {
  await plain.stop(true)
  app.close()
})

type Sent = { host?: string | null; method?: string; headers?: string[]; body?: string }
type Got = { status: number; headers: Map<string, string>; body: string }

/** Over a socket, byte for byte, in ways that no normal client would send. */
function send(
  target: string,
  { host = ADMIN, method = 'GET', headers = [], body = '' }: Sent = {},
): Promise<Got> {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(host === null ? [] : [`Host: ${host}`]),
    ...headers,
    '',
    body,
  ]
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const socket = connect(plain.port ?? 0, '127.0.0.1', () =>
      socket.write(Buffer.from(lines.join('\r\n'), 'latin1')),
    )
    socket.on('data', (bytes: Buffer) => pieces.push(bytes))
    socket.on('close', () => resolve(parse(Buffer.concat(pieces).toString('latin1'))))
    socket.on('error', reject)
  })
}

function parse(text: string): Got {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status: Number(first.split(' ')[1]), headers: new Map(headers), body: rest.join('\r\n\r\n') }
}

const redirected: [name: string, host: string, target: string, location: string][] = [
  ['a page', ADMIN, '/login?next=%2F', `https://${ADMIN}:8443/login?next=%2F`],
  ['the root', 'www.example.test', '/', 'https://www.example.test:8443/'],
  ['a host in capitals, with port and dot', 'WWW.Example.Test.:80', '/a', 'https://www.example.test:8443/a'],
  ['an address', '127.0.0.1:8080', '/a', 'https://127.0.0.1:8443/a'],
  ["an address that may be anybody's", '203.0.113.7', '/a', `https://${ADMIN}:8443/a`],
  ['one of IPv6', '[2001:db8::1]:80', '/a', `https://${ADMIN}:8443/a`],
  ['localhost', 'localhost', '/a', 'https://localhost:8443/a'],
  ['a path that looks like a host', ADMIN, '//evil.test/x', `https://${ADMIN}:8443//evil.test/x`],
  ['a backslash', ADMIN, '/\\evil.test', `https://${ADMIN}:8443//evil.test`],
  ['an absolute target of another host', ADMIN, 'http://evil.test/x', `https://${ADMIN}:8443/x`],
  [
    'an encoded line break',
    ADMIN,
    '/%0d%0aSet-Cookie:%20a=1',
    `https://${ADMIN}:8443/%0d%0aSet-Cookie:%20a=1`,
  ],
  ['a fragment', ADMIN, '/a?b#c', `https://${ADMIN}:8443/a?b`],
  ['a query with an address', ADMIN, '/?to=https://evil.test', `https://${ADMIN}:8443/?to=https://evil.test`],
  ['the API', ADMIN, '/api/projects', `https://${ADMIN}:8443/api/projects`],
  ['a long path', ADMIN, `/${'a'.repeat(8000)}`, `https://${ADMIN}:8443/${'a'.repeat(8000)}`],
]

test.each(redirected)('%s is redirected to https', async (_name, host, target, location) => {
  const got = await send(target, { host })
  expect(got.status).toBe(308)
  expect(got.headers.get('location')).toBe(location)
  expect(got.body).toBe('')
})

const refused: [name: string, target: string, host: string | null, status: number][] = [
  ['a foreign host', '/', 'evil.test', 404],
  ['a foreign host below ours', '/', `x.${ADMIN}`, 404],
  ['a host that ends like ours', '/', 'evilsites.test', 404],
  ['the base domain itself', '/', 'sites.test', 404],
  ['no host', '/', null, 400],
  ['two hosts', '/', `${ADMIN}\r\nHost: evil.test`, 400],
  ['a host with a user', '/', `${ADMIN}@evil.test`, 400],
  ['a host with a path', '/', `${ADMIN}/evil`, 400],
  ['a host with a line break encoded', '/', `${ADMIN}%0d%0a`, 400],
  ['a target without a slash', '@evil.test', ADMIN, 400],
  ['a target of backslashes', '\\\\evil.test', ADMIN, 400],
  ['an unverified host', '/', 'stranger.example.test', 421],
]

test.each(refused)('%s is not redirected', async (_name, target, host, status) => {
  const got = await send(target, { host })
  expect(got.status).toBe(status)
  expect(got.headers.has('location')).toBe(false)
})

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])(
  '%s is redirected with its method, its body unread',
  async (method) => {
    const got = await send('/api/projects', {
      method,
      headers: ['Content-Length: 1000000', 'Cookie: sAccessToken=x', 'X-API-Key: svc_x'],
      body: 'only the beginning',
    })
    expect(got.status).toBe(308)
    expect(got.headers.get('connection')).toBe('close')
    expect(got.headers.has('set-cookie')).toBe(false)
  },
)

test('CONNECT opens no tunnel', async () => {
  const got = await send('evil.test:443', { method: 'CONNECT', host: 'evil.test:443' })
  expect(got.status).toBe(400)
})

test('a challenge is only answered for its own host', async () => {
  const path = `/.well-known/acme-challenge/${TOKEN}`
  const got = await send(path, { host: 'www.example.test' })
  expect(got).toMatchObject({ status: 200, body: `${TOKEN}.thumb` })
  expect((await send(path, { host: 'evil.test' })).status).toBe(404)
  expect((await send(path, { host: ADMIN })).status).toBe(308)
})

test.each([
  ['another token', `/.well-known/acme-challenge/${TOKEN}x`, 'GET'],
  ['a path below', `/.well-known/acme-challenge/${TOKEN}/x`, 'GET'],
  ['a way around', `/.well-known/acme-challenge/%2e%2e/${TOKEN}`, 'GET'],
  ['an encoded token', `/.well-known/acme-challenge/%65${TOKEN.slice(1)}`, 'GET'],
  ['a POST', `/.well-known/acme-challenge/${TOKEN}`, 'POST'],
])('a challenge is not answered for %s', async (_name, path, method) => {
  const got = await send(path, { host: 'www.example.test', method })
  expect(got.status).toBe(308)
  expect(got.body).toBe('')
})

test('a domain can still be verified over HTTP', async () => {
  const { body } = await ask(app, 'GET', '/api/domains?hostname=stranger.example.test', { as: SEED_OWNER })
  const [domain] = body['data'] as { verification: { value: string } }[]
  const value = domain?.verification.value ?? ''
  const got = await send(`/.well-known/svc-challenge/${value}`, { host: 'stranger.example.test' })
  expect(got).toMatchObject({ status: 200, body: value })
})

test('health is only for this machine, and sets no cookie', async () => {
  const near = await send('/api/health', { host: '127.0.0.1', headers: ['Cookie: sAccessToken=stale'] })
  expect(near.status).toBe(200)
  expect(JSON.parse(near.body)).toMatchObject({ status: 'ok' })
  expect(near.headers.has('set-cookie')).toBe(false)
  const far = await send('/api/health', { headers: ['X-Test-Peer: 203.0.113.9'] })
  expect(far.status).toBe(308)
})

test('visitors of a host without a certificate are told to wait, and one is requested for an alias host', async () => {
  const late = await send('/', { host: 'late.example.test' })
  expect(late.status).toBe(503)
  expect(late.headers.get('retry-after')).toBe('10')
  expect(late.headers.get('refresh')).toBe('10')
  expect(late.body).toContain('certificate')
  expect(visited).toEqual([])
  expect((await send('/', { host: aliasHost })).status).toBe(503)
  expect(visited).toEqual([aliasHost])
  expect((await send('/', { host: site.host })).status).toBe(503)
  expect(visited).toEqual([aliasHost])
})

test('a private site looks like an unused host, with and without a certificate', async () => {
  const hidden = await seedDeployment(app, { ...SEED, repo: 'secret', isPublic: false })
  const certificates = app.ctx.certificates
  const covered = { hosts: ['*.sites.test'], certPem: '', keyPem: '', expiresAt: 0 }
  for (const all of [[], [covered]]) {
    app.ctx.certificates = { ...certificates, all: () => all }
    const host = hidden.aliasHost ?? ''
    const there = await send('/', { host })
    const nowhere = await send('/', { host: host.replace('secret', 'nobody') })
    expect(nowhere.status).toBe(all.length === 0 ? 503 : 308)
    expect([there.status, there.body, [...there.headers.keys()]]).toEqual([
      nowhere.status,
      nowhere.body,
      [...nowhere.headers.keys()],
    ])
  }
  app.ctx.certificates = certificates
})

test('nothing is redirected while there is no TLS listener', async () => {
  isTlsOpen = false
  const got = await send('/', { host: ADMIN })
  const health = await send('/api/health', { host: 'localhost' })
  isTlsOpen = true
  expect(got.status).toBe(503)
  expect(got.headers.has('location')).toBe(false)
  expect(health.status).toBe(200)
})
