import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Silence } from '../http/relayed.ts'
import type { Outbound, OutboundRequest } from '../platform/outbound.ts'
import { BACKEND, type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'
import { rawTlsBackend } from '../testing/tls-backend.ts'
import { resolveHost } from './resolve-site.ts'
import { LONG_SILENCE_MS, relayOrRefuse } from './serve-proxy.ts'

type Seen = { method: string; url: string; headers: IncomingMessage['headers']; body: Buffer }

let fixture: ProxyFixture
let outbound: Outbound
let server: Server
let target: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
let seen: Seen[] = []
const open = new Set<Socket>()

beforeAll(async () => {
  fixture = await proxyFixture(
    {},
    {},
    {
      'index.html': '<h1>home</h1>',
      'app/page.html': 'page',
      'app/docs/index.html': 'docs',
      'old.txt': 'old',
    },
  )
  outbound = fixture.app.ctx.outbound
  server = createServer(fixture.certificate, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (bytes: Buffer) => pieces.push(bytes))
    request.on('end', () => {
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(pieces),
      })
      answer(request, response)
    })
  })
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  target = `https://${BACKEND}:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await fixture.close()
})
afterEach(() => {
  fixture.app.ctx.db.sqlite.run('DELETE FROM proxy_rules')
  fixture.app.ctx.db.writes += 1
  fixture.app.ctx.outbound = outbound
  seen = []
  answer = ok
})

/** Modifies requests to backends until the end of the test. */
function sendOutWith(change: (request: OutboundRequest) => OutboundRequest): void {
  fixture.app.ctx.outbound = {
    ...outbound,
    request: (url, request) => outbound.request(url, change(request)),
  }
}

const ok = (_: IncomingMessage, response: ServerResponse) => void response.end('from the backend')
answer = ok
const only = (): Seen => {
  const [first, ...others] = seen
  if (first === undefined || others.length > 0) throw new Error(`The backend saw ${seen.length} requests`)
  return first
}

const forwarded: [pattern: string, stripPrefix: boolean, below: string, path: string, expected: string][] = [
  ['/api/*', true, '', '/api/users', '/users'],
  ['/api/*', false, '', '/api/users', '/api/users'],
  ['/api/*', true, '/', '/api/users', '/users'],
  ['/api/*', true, '/v2', '/api/users', '/v2/users'],
  ['/api/*', true, '/v2/', '/api/', '/v2/'],
  ['/graphql', true, '/query', '/graphql', '/query'],
  ['/graphql', false, '', '/graphql', '/graphql'],
  ['*.json', true, '/data', '/x/a.json', '/data/x/a.json'],
  ['/api*', true, '', '/api.evil.example', '/.evil.example'],
  [
    '/api/*',
    true,
    '',
    '/api/a%2Fb%20c//d;x=1?q=a+b%20c&q=%C3%A9&empty',
    '/a%2Fb%20c//d;x=1?q=a+b%20c&q=%C3%A9&empty',
  ],
  ['/api/*', true, '/v2?key=1', '/api/a?b=2', '/v2/a?key=1&b=2'],
  ['/api/*', true, '/v2?key=1', '/api/a', '/v2/a?key=1'],
  ['/api/*', true, '', '/%61pi/users', '/users'],
  ['/caf\u00e9/*', true, '', '/caf%c3%a9/x', '/x'],
  ['/caf\u00e9/*', true, '', '/cafe%CC%81/%65%7e', '/%65%7e'],
  ['/@me/*', true, '', '/%40me/%40you%7E%2f|', '/%40you%7E%2f|'],
  ['/%40me/*', true, '/v2', '/@me/%2541', '/v2/%2541'],
  ['/100%25/*', true, '', '/100%25/x', '/x'],
  ['/100%/*', true, '', '/100%/%zz', '/%zz'],
  ['/a%2Fb/*', true, '', '/a%2fb/c', '/c'],
  ['/my files/*', false, '', '/my%20files/%61', '/my%20files/%61'],
  ['/@me', true, '/who', '/%40me', '/who'],
  ['/*/items/*', true, '', '/shop/items/7', '/shop/items/7'],
]
test.each(forwarded)(
  '%s, stripPrefix %p, target%s: %s becomes %s',
  async (pathPattern, stripPrefix, below, path, expected) => {
    await fixture.rule({ pathPattern, stripPrefix, targetUrl: `${target}${below}` })
    const got = await fixture.send(path)
    expect([got.status, got.text, only().url]).toEqual([200, 'from the backend', expected])
  },
)

test('an exact pattern takes only its path, a prefix not its own name, and a rule for POST no GET', async () => {
  await fixture.rule({ pathPattern: '/graphql', targetUrl: target })
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  await fixture.rule({ pathPattern: '/old.txt', targetUrl: target, method: 'POST' })
  expect((await fixture.send('/graphql/v2', { headers: { accept: 'text/plain' } })).status).toBe(404)
  expect((await fixture.send('/api', { headers: { accept: 'text/plain' } })).status).toBe(404)
  expect((await fixture.send('/old.txt')).text).toBe('old')
  expect((await fixture.send('/old.txt', { method: 'POST' })).text).toBe('from the backend')
})

test('rules of the alias come before those of the project, by order, and a disabled one is skipped', async () => {
  await fixture.rule({ pathPattern: '/a/*', targetUrl: `${target}/project` })
  await fixture.rule({ pathPattern: '/a/*', targetUrl: `${target}/second`, order: 5 }, true)
  await fixture.rule({ pathPattern: '/a/*', targetUrl: `${target}/first`, order: 4 }, true)
  const disabled = { pathPattern: '/a/*', targetUrl: `${target}/disabled`, order: 1, isEnabled: false }
  await fixture.rule(disabled, true)
  await fixture.send('/a/x')
  expect(only().url).toBe('/first/x')
  seen = []
  await fixture.send('/a/x', { host: fixture.site.host })
  expect(only().url).toBe('/project/x')
})

test('headers: forwarded, never forwarded, and set by us', async () => {
  await fixture.rule({
    pathPattern: '/api/*',
    targetUrl: target,
    headerConfig: { add: { 'X-Service-Key': 'k', Accept: 'text/plain' } },
  })
  await fixture.send('/api/x', {
    headers: {
      accept: 'text/html',
      'user-agent': 'visitor/1',
      'content-type': 'text/plain',
      'x-custom': 'yes',
      cookie: 'sAccessToken=secret; theme=dark',
      authorization: 'Bearer secret',
      'x-api-key': 'svc_secret',
      'x-forwarded-for': '6.6.6.6',
      'x-forwarded-host': 'evil.example',
      forwarded: 'for=6.6.6.6',
      connection: 'close, x-hop',
      'x-hop': 'hop',
      te: 'trailers',
    },
  })
  const { headers } = only()
  expect(headers).toMatchObject({
    host: new URL(target).host,
    accept: 'text/plain',
    'user-agent': 'visitor/1',
    'content-type': 'text/plain',
    'x-custom': 'yes',
    'x-service-key': 'k',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': fixture.site.aliasHost,
    'x-forwarded-proto': 'http',
  })
  for (const name of ['cookie', 'authorization', 'x-api-key', 'forwarded', 'x-hop', 'te'])
    expect(headers[name]).toBeUndefined()
})

test.each(['Bearer svc_secret', 'bearer   svc_secret', 'Basic x, Bearer svc_secret'])(
  'a key as %p never leaves, though the rule forwards the header; other tokens do',
  async (authorization) => {
    const headerConfig = { forward: ['authorization', 'x-api-key'] }
    await fixture.rule({ pathPattern: '/api/*', targetUrl: target, headerConfig })
    await fixture.send('/api/x', { headers: { authorization } })
    expect(only().headers.authorization).toBeUndefined()
    await fixture.send('/api/x', { headers: { authorization: 'Bearer of.the.backend' } })
    expect(seen.at(-1)?.headers.authorization).toBe('Bearer of.the.backend')
  },
)

test('cookies without the session are forwarded if the rule says so; the Host too', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target, forwardCookies: true, preserveHost: true })
  await fixture.send('/api/x', {
    headers: { cookie: 'a=1; sAccessToken=secret; sIdRefreshToken=secret; b=2' },
  })
  expect(only().headers).toMatchObject({ cookie: 'a=1; b=2', host: fixture.site.aliasHost })
})

test('a header declared without a value is not sent', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target, headerConfig: { add: { 'x-key': '' } } })
  await fixture.send('/api/x', { headers: { 'x-key': 'of the visitor' } })
  expect(only().headers['x-key']).toBeUndefined()
})

test('the response: status, headers, several cookies, no hop-by-hop', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  answer = (_, response) => {
    response.writeHead(
      418,
      [
        ['Set-Cookie', 'a=1; Domain=.sites.test; Path=/'],
        ['Set-Cookie', 'b=2; HttpOnly'],
        ['Set-Cookie', 'sAccessToken=stolen'],
        ['X-Powered-By', 'tea'],
        ['Keep-Alive', 'timeout=9'],
        ['Content-Type', 'text/plain'],
      ].flat(),
    )
    response.end('short and stout')
  }
  const got = await fixture.send('/api/x')
  expect([got.status, got.text]).toEqual([418, 'short and stout'])
  expect(got.headers['set-cookie']).toEqual(['a=1; Path=/', 'b=2; HttpOnly'])
  expect(got.headers['x-powered-by']).toBe('tea')
  expect(got.headers['keep-alive']).toBeUndefined()
  expect(got.headers['content-type']).toBe('text/plain')
  expect(got.rawHeaders.filter((name) => name.toLowerCase() === 'date')).toHaveLength(1)
})

test('a response without a type gets none, so that browsers show it instead of saving it', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  const got = await fixture.send('/api/x')
  expect(got).toMatchObject({ status: 200, text: 'from the backend', headers: { 'content-length': '16' } })
  expect(got.headers['content-type']).toBeUndefined()
})

test('a proxy in front is asked not to buffer events, unless the backend decides otherwise', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  answer = ({ url }, response) => {
    if (url === '/own') response.setHeader('x-accel-buffering', 'yes')
    response.setHeader('content-type', url === '/text' ? 'text/plain' : 'text/event-stream')
    response.end('data: 1\n\n')
  }
  const unbuffered = async (path: string) => (await fixture.send(path)).headers['x-accel-buffering']
  expect(await unbuffered('/api/events')).toBe('no')
  expect(await unbuffered('/api/own')).toBe('yes')
  expect(await unbuffered('/api/text')).toBeUndefined()
})

test('redirects are relayed, and HEAD, 204 and 304 have no body', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  answer = (request, response) => {
    const status = Number(request.url?.slice(1))
    response.writeHead(status, { location: 'https://elsewhere.example/', etag: '"x"' })
    response.end(status === 200 || status === 302 ? 'body' : undefined)
  }
  expect(await fixture.send('/api/302')).toMatchObject({
    status: 302,
    headers: { location: 'https://elsewhere.example/' },
  })
  expect(await fixture.send('/api/204', { method: 'DELETE' })).toMatchObject({ status: 204, text: '' })
  expect(await fixture.send('/api/304')).toMatchObject({ status: 304, text: '', headers: { etag: '"x"' } })
  expect(await fixture.send('/api/200', { method: 'HEAD' })).toMatchObject({
    status: 200,
    text: '',
    isWhole: true,
  })
})

test('HEAD has the length that the backend sends, or none', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  answer = (request, response) => {
    if (request.url === '/said') response.setHeader('content-length', '4711')
    response.end()
  }
  const said = await fixture.send('/api/said', { method: 'HEAD' })
  expect([said.status, said.headers['content-length'], said.isWhole]).toEqual([200, '4711', true])
  const unsaid = await fixture.send('/api/unsaid', { method: 'HEAD' })
  expect([unsaid.status, unsaid.headers['content-length'], unsaid.isWhole]).toEqual([200, undefined, true])
})

test('bodies of any size go both ways unchanged', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  answer = (_, response) => void response.end(only().body)
  const body = Buffer.alloc(5_000_000, 'abcdefg')
  const got = await fixture.send('/api/x', { method: 'PUT', body })
  expect(only().body.length).toBe(body.length)
  expect(createHash('sha256').update(got.text, 'latin1').digest('hex')).toBe(
    createHash('sha256').update(body).digest('hex'),
  )
})

test('a coded body is passed on as it is', async () => {
  answer = (_request, response) => void response.end('ok')
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  const body = Bun.gzipSync(Buffer.from('hello'))
  const headers = { 'content-encoding': 'gzip', 'content-length': String(body.length) }
  expect((await fixture.send('/api/x', { method: 'POST', headers, body })).status).toBe(200)
  expect(seen.at(-1)?.headers['content-encoding']).toBe('gzip')
  expect(seen.at(-1)?.body.equals(body)).toBe(true)
})

test('a 5xx of the backend is 502 with the error body', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  answer = (_, response) => {
    response.writeHead(503)
    response.end('secret stack trace')
  }
  const got = await fixture.send('/api/x')
  expect([got.status, got.headers['x-upstream-status'], got.headers['cache-control']]).toEqual([
    502,
    '503',
    'no-store',
  ])
  expect(JSON.parse(got.text)).toMatchObject({ statusCode: 502, error: 'Bad Gateway' })
  expect(got.text).not.toContain('secret')
})

test('a 5xx with an endless body does not keep a connection busy', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  const gone = Promise.withResolvers<void>()
  answer = (_, response) => {
    response.on('close', () => gone.resolve())
    response.writeHead(500)
    response.write('x'.repeat(300_000))
  }
  expect((await fixture.send('/api/x')).status).toBe(502)
  await gone.promise
})

test('refused, unknown, untrusted and private targets are 502, and the message names the reason', async () => {
  const strange = await rawTlsBackend(fixture.certificate, () => {})
  const cases: [string, RegExp][] = [
    [`https://${BACKEND}:1`, /refused/i],
    ['https://nowhere.example', /does not resolve/],
    [`https://stranger.test:${strange.port}`, /certificate/i],
  ]
  for (const [index, [targetUrl, reason]] of cases.entries()) {
    await fixture.rule({ pathPattern: `/${index}/*`, targetUrl })
    const got = await fixture.send(`/${index}/x`)
    expect([got.status, JSON.parse(got.text).error]).toEqual([502, 'Bad Gateway'])
    expect(JSON.parse(got.text).message).toMatch(reason)
    expect(got.text).not.toContain(new URL(targetUrl).hostname)
  }
  await strange.close()
})

test('headers added to one response are not in the next one with the same head', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  const { ctx } = fixture.app
  const site = resolveHost(ctx, fixture.site.aliasHost)
  if (site?.kind !== 'site') throw new Error('no site')
  const [rule] = site.rules
  if (rule === undefined) throw new Error('no rule')
  const plan = { url: new URL(target), target: '/', headers: [] }
  const forwarding = { ctx, site, rule, plan, method: 'GET', silence: new Silence(undefined) }
  const headers: [string, string][] = [['x-a', '1']]
  const again = () => relayOrRefuse(forwarding, { status: 200, headers, isKnownHead: true, body: null })
  const first = again()
  first.headers.append('set-cookie', 'secret=1')
  expect(first.headers.get('set-cookie')).toBe('secret=1')
  const second = again()
  expect([second.headers.get('x-a'), second.headers.get('set-cookie')]).toEqual(['1', null])
  const others = relayOrRefuse(
    { ...forwarding, site: { ...site, isShared: !site.isShared } },
    {
      status: 200,
      headers,
      isKnownHead: true,
      body: null,
    },
  )
  expect(second.headers.get('cache-control')).not.toBe(others.headers.get('cache-control'))
})

test('a head that does not come in time is 504', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target, timeout: 100 })
  answer = () => {}
  const got = await fixture.send('/api/x')
  expect([got.status, JSON.parse(got.text).error]).toEqual([504, 'Gateway Timeout'])
})

test.each(['content-length', 'chunked'])(
  'a body that stops (%s) is cut off, so that it does not look complete',
  async (framing) => {
    await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
    // Only the silence after the head counts: on a busy machine the head may take a while.
    sendOutWith((request) => ({ ...request, idleTimeoutMs: 100 }))
    answer = (_, response) => {
      response.writeHead(200, framing === 'chunked' ? {} : { 'content-length': '100' })
      response.write('half')
    }
    expect(await fixture.send('/api/x')).toMatchObject({ status: 200, isWhole: false })
  },
)

test('the visitor is cut off when the backend breaks off', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  }
  const got = await fixture.send('/api/x')
  expect(got.isWhole && got.status === 200).toBe(false)
})

test('events are relayed as they arrive, and the backend request ends when the visitor leaves', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  const gone = Promise.withResolvers<void>()
  let more: (() => void) | undefined
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: 1\n\n')
    more = () => void response.write('data: 2\n\n')
    response.on('close', () => gone.resolve())
  }
  const visitor = new AbortController()
  const got = await fetch(`http://127.0.0.1:${fixture.port}/api/events`, {
    headers: { host: fixture.site.aliasHost },
    signal: visitor.signal,
  })
  const reader = got.body?.getReader()
  const next = async () => new TextDecoder().decode((await reader?.read())?.value)
  expect(await next()).toBe('data: 1\n\n')
  more?.()
  expect(await next()).toBe('data: 2\n\n')
  visitor.abort()
  await gone.promise
})

test('between two chunks a response may be silent as long as the rule allows, and an event stream longer', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target, timeout: 1000 })
  let allowed: OutboundRequest['idleTimeoutMs'] = 0
  sendOutWith((request) => {
    allowed = request.idleTimeoutMs
    return request
  })
  await fixture.send('/api/x')
  const silenceOf = (type: string) =>
    typeof allowed === 'number' ? allowed : allowed(200, [['content-type', type]])
  expect(['text/html', 'text/event-stream', 'Text/Event-Stream; charset=utf-8'].map(silenceOf)).toEqual([
    1000,
    LONG_SILENCE_MS,
    LONG_SILENCE_MS,
  ])
})

test('a connection may be silent while waiting for the backend, but not after its response', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  const thought = Promise.withResolvers<void>()
  answer = (_, response) => void thought.promise.then(() => response.end('done'))
  const heard: boolean[] = []
  const host = fixture.site.aliasHost
  const got = await fixture.app.app.fetch(new Request(`http://${host}/api/x`, { headers: { host } }), {
    address: '127.0.0.1',
    allowSilence(isAllowed) {
      heard.push(isAllowed)
      if (isAllowed) thought.resolve()
    },
  })
  expect(await got.text()).toBe('done')
  expect(heard).toEqual([true, false])
})

test('a fragment sent by a client is not forwarded', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  const asked: (string | undefined)[] = []
  answer = ({ url }, response) => {
    asked.push(url)
    response.end()
  }
  for (const path of ['/api/x#part', '/api/x?a=1#part']) await fixture.send(path)
  expect(asked).toEqual(['/x', '/x?a=1'])
})

test('a visitor who leaves before the answer ends the backend request', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  const gone = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  answer = (_, response) => {
    response.on('close', () => gone.resolve())
    asked.resolve()
  }
  const visitor = new AbortController()
  const answered = fetch(`http://127.0.0.1:${fixture.port}/api/slow`, {
    headers: { host: fixture.site.aliasHost },
    signal: visitor.signal,
  })
  await asked.promise
  visitor.abort()
  await expect(answered).rejects.toThrow()
  await gone.promise
})

test('a rewrite serves another file of the deployment, without a redirect', async () => {
  await fixture.rule({ pathPattern: '/new/*', targetUrl: '/app/', proxyType: 'internal_rewrite' })
  await fixture.rule({ pathPattern: '/gone', targetUrl: '/old.txt', proxyType: 'internal_rewrite' })
  expect(await fixture.send('/new/page.html')).toMatchObject({ status: 200, text: 'page' })
  expect(await fixture.send('/new/docs')).toMatchObject({ status: 200, text: 'docs' })
  expect(await fixture.send('/gone')).toMatchObject({ status: 200, text: 'old' })
  expect((await fixture.send('/new/nothing.txt')).status).toBe(404)
})

test.each([
  ['*', '/page.html'],
  ['/*', '/page.html'],
  ['/old*', '/old/page.html'],
  ['/new/*', '/%6Eew/page.html'],
])('a rewrite of %s to a folder finds its files', async (pathPattern, path) => {
  await fixture.rule({ pathPattern, targetUrl: '/app/', proxyType: 'internal_rewrite' })
  expect(await fixture.send(path)).toMatchObject({ status: 200, text: 'page' })
})

test('a rule takes precedence over API routes, except those for sign-in', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  expect((await fixture.send('/api/projects')).text).toBe('from the backend')
  expect((await fixture.send('/api/auth/unknown')).text).toBe('from the backend')
  expect(JSON.parse((await fixture.send('/api/auth/session')).text)).toEqual({ user: null })
  expect((await fixture.send('/_svc/auth/session')).status).toBe(200)
})

test('on the admin host a response is sandboxed, sets no cookie and clears nothing', async () => {
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  answer = (_, response) => {
    response.writeHead(200, {
      'set-cookie': 'a=1',
      'clear-site-data': '"cookies"',
      nel: '{"report_to":"g","max_age":60,"success_fraction":1}',
      'report-to': '{"group":"g","max_age":60,"endpoints":[{"url":"https://evil.example/"}]}',
      'content-security-policy': 'x',
      'secure-session-registration': '(ES256);path="/x"',
      'use-as-dictionary': 'match="/*"',
    })
    response.end('ok')
  }
  const path = '/public/acme/docs/production/api/x?q=1'
  const got = await fixture.send(path, { host: 'admin.sites.test', method: 'POST', body: 'b' })
  expect([got.status, got.text, only().url, only().method]).toEqual([200, 'ok', '/x?q=1', 'POST'])
  expect(got.headers['set-cookie']).toBeUndefined()
  expect(got.headers['clear-site-data']).toBeUndefined()
  const kept = ['nel', 'report-to', 'secure-session-registration', 'use-as-dictionary']
  expect(kept.filter((name) => name in got.headers)).toEqual([])
  expect(got.headers['content-security-policy']).toStartWith('sandbox')
  const page = await fixture.send(path, {
    host: 'admin.sites.test',
    headers: { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' },
  })
  expect(page).toMatchObject({
    status: 302,
    headers: { location: expect.stringContaining(`${fixture.site.aliasHost}`) },
  })
})

test('a private site’s backend is hidden from everybody else, and shared caches may not store it', async () => {
  const { app, site } = fixture
  await fixture.rule({ pathPattern: '/api/*', targetUrl: target })
  const setPublic = (isPublic: boolean) =>
    app.call('PATCH', `/api/projects/${site.projectId}`, {
      as: 'seed-owner@example.com',
      host: 'admin.sites.test',
      json: { isPublic },
    })
  expect((await setPublic(false)).status).toBe(200)
  expect((await fixture.send('/api/x')).status).toBe(404)
  expect(seen).toEqual([])
  answer = (_, response) => {
    response.writeHead(200, { 'cache-control': 'public, max-age=60' })
    response.end('ok')
  }
  const cookie = await app.cookieOf('seed-owner@example.com')
  const got = await fixture.send('/api/x', { headers: { cookie } })
  expect([got.status, got.headers['cache-control'], got.headers['vary']]).toEqual([
    200,
    'private, max-age=60',
    'Cookie',
  ])
  expect(only().headers.cookie).toBeUndefined()
  await setPublic(true)
})

test('a trusted proxy’s address, scheme and host are forwarded, and its own address is added', async () => {
  const trusting = await proxyFixture({ TRUST_PROXY: '127.0.0.1/32' })
  const own = createServer(trusting.certificate, (request, response) => {
    response.end(JSON.stringify(request.headers))
  })
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
  await trusting.rule({
    pathPattern: '/api/*',
    targetUrl: `https://${BACKEND}:${(own.address() as AddressInfo).port}`,
  })
  const got = await trusting.send('/api/x', {
    host: 'inner.example',
    headers: {
      'x-forwarded-for': '198.51.100.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': trusting.site.aliasHost,
    },
  })
  expect(JSON.parse(got.text)).toMatchObject({
    'x-forwarded-for': '198.51.100.7, 127.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': trusting.site.aliasHost,
  })
  own.closeAllConnections()
  own.close()
  await trusting.close()
})

test('a rule whose header values cannot be decrypted sends nothing', async () => {
  const id = await fixture.rule({
    pathPattern: '/api/*',
    targetUrl: target,
    headerConfig: { add: { 'x-key': 'v' } },
  })
  fixture.app.ctx.db.sqlite.run(
    `UPDATE proxy_rules SET header_config = '{"add":{"x-key":"v1.00000000.AAAA"}}' WHERE id = ?`,
    [id],
  )
  fixture.app.ctx.db.writes += 1
  expect((await fixture.send('/api/x')).status).toBe(502)
  expect(
    (await fixture.send('/public/acme/docs/production/api/x', { host: 'admin.sites.test' })).status,
  ).toBe(502)
  expect(seen).toEqual([])
})

test('a pipeline rule answers, with the path and the method of its rule', async () => {
  const pipelineConfig = {
    name: 'hello',
    steps: [
      {
        id: 'answer',
        handlerType: 'response_handler',
        config: { body: '{"hello":"{{request.query.name}}"}', status: 201 },
      },
    ],
  }
  await fixture.rule({ pathPattern: '/api/hello', method: 'POST', proxyType: 'pipeline', pipelineConfig })
  const got = await fixture.send('/api/hello?name=ann', { method: 'POST' })
  expect([got.status, got.text]).toEqual([201, '{"hello":"ann"}'])
  expect(
    (
      await fixture.send('/public/acme/docs/production/api/hello', {
        host: 'admin.sites.test',
        method: 'POST',
      })
    ).status,
  ).toBe(201)
  expect((await fixture.send('/api/hello', { headers: { accept: 'text/plain' } })).status).toBe(404)
})
