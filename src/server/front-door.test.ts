import { afterAll, describe, expect, test } from 'bun:test'
import { assetUrl } from '../../ui/assets/manifest.ts'
import { inTransaction } from '../db/open.ts'
import { seedDeployment } from '../testing/seed.ts'
import { listening, type TestApp, testApp } from '../testing/test-app.ts'

const apps: TestApp[] = []
afterAll(() => {
  for (const app of apps) app.close()
})

async function open(env: Record<string, string> = {}): Promise<TestApp> {
  const app = await testApp(env)
  apps.push(app)
  return app
}

const ROOT = { email: 'root@example.com', password: 'correct horse battery' }

describe('which hosts are the admin', () => {
  const rows: [baseDomain: string, host: string, isAdmin: boolean][] = [
    ['localhost', 'localhost', true],
    ['localhost', 'LOCALHOST:3000', true],
    ['localhost', '127.0.0.1:3000', true],
    ['localhost', '[::1]:3000', true],
    ['localhost', '192.168.1.5', true],
    ['localhost', 'nothing.localhost', false],
    ['localhost', 'a.b.localhost', false],
    ['localhost', 'example.com', false],
    ['sites.example.com', 'admin.sites.example.com', true],
    ['sites.example.com', 'admin.sites.example.com.', true],
    ['sites.example.com', 'localhost', true],
    ['sites.example.com', 'sites.example.com', false],
    ['sites.example.com', 'admin.sites.example.com.evil.example', false],
    ['sites.example.com', 'evil-admin.sites.example.com', false],
  ]

  test.each(rows)('below %s, %s: %p', async (baseDomain, host, isAdmin) => {
    const app = await open({ BASE_DOMAIN: baseDomain })
    const answer = await app.call('GET', '/api/setup/status', { host })
    expect(answer.status).toBe(isAdmin ? 200 : 404)
    if (!isAdmin) expect(await answer.text()).toContain('No site lives here')
  })

  test.each(['a..b', '*.example.com', 'localhost:99999'])(
    'a Host that cannot be ours is unknown, and no link leads back to it: %p',
    async (host) => {
      const app = await open()
      const answer = await visit(app, host)
      expect(answer.status).toBe(404)
      expect(await answer.text()).toContain(`href="${app.ctx.adminUrl()}/signin"`)
    },
  )

  test.each(['', 'a b', 'a/b', '-:x', 'localhost@evil', 'localhost, localhost', '[::1'])(
    'a Host field that is no host is refused, also for files of the pages: %p',
    async (host) => {
      const app = await open()
      for (const path of ['/', '/api/health', assetUrl('app.css')]) {
        const answer = await visit(app, host, path)
        expect(answer.status).toBe(400)
        expect(await answer.text()).toContain('one Host header')
      }
    },
  )
})

const visit = (app: TestApp, host: string, path = '/') =>
  app.app.fetch(new Request(`http://x${path}`, { headers: { host } }), { address: '127.0.0.1' })

describe('a proxy in front', () => {
  const forwarded = { 'x-forwarded-host': 'admin.example.com', 'x-forwarded-proto': 'https' }

  test('is trusted if its address is configured', async () => {
    const app = await open({ BASE_DOMAIN: 'example.com', TRUST_PROXY: '10.0.0.0/8' })
    const answer = await app.call('GET', '/api/setup/status', {
      host: 'internal',
      from: '10.1.2.3',
      headers: forwarded,
    })
    expect(answer.status).toBe(200)
  })

  test('is not trusted otherwise', async () => {
    const app = await open({ BASE_DOMAIN: 'example.com', TRUST_PROXY: '10.0.0.0/8' })
    const answer = await app.call('GET', '/api/setup/status', {
      host: 'internal',
      from: '203.0.113.1',
      headers: forwarded,
    })
    expect(answer.status).toBe(404)
  })

  test('that speaks TLS makes cookies Secure', async () => {
    const app = await open({ BASE_DOMAIN: 'example.com', TRUST_PROXY: '10.0.0.0/8' })
    await app.addUser(ROOT.email, 'admin')
    const ask = (headers: Record<string, string>) =>
      app.call('POST', '/api/auth/signin', {
        host: 'admin.example.com',
        from: '10.1.2.3',
        headers,
        json: ROOT,
      })
    const secure = (await ask(forwarded)).headers.getSetCookie()
    expect(secure).toHaveLength(2)
    for (const cookie of secure)
      expect(cookie).toMatch(/; Domain=\.example\.com; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/)
    for (const cookie of (await ask({})).headers.getSetCookie()) expect(cookie).not.toContain('Secure')
  })
})

describe('claiming a fresh server', () => {
  const rows: [
    what: string,
    from: string,
    headers: Record<string, string>,
    token: string | undefined,
    status: number,
  ][] = [
    ['a stranger without the token', '203.0.113.9', {}, undefined, 401],
    ['a stranger with a wrong one', '203.0.113.9', {}, 'guess', 401],
    ['a stranger with the token', '203.0.113.9', {}, 'test-setup-token', 201],
    ['the machine itself', '127.0.0.1', {}, undefined, 201],
    ['the machine itself, with the token of another start', '127.0.0.1', {}, 'guess', 401],
    ['the machine itself, with an empty one', '127.0.0.1', {}, '', 201],
    ['a stranger with an empty one', '203.0.113.9', {}, '', 401],
    ['the machine itself by IPv6', '::1', {}, undefined, 201],
    ['the machine itself, mapped', '::ffff:127.0.0.1', {}, undefined, 201],
    ['a proxy on the machine', '127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }, undefined, 401],
    ['a proxy that only sends Via', '127.0.0.1', { via: '1.1 proxy' }, undefined, 401],
    ['a proxy that sends Forwarded', '127.0.0.1', { forwarded: 'for=1.2.3.4' }, undefined, 401],
    [
      'a proxy that sends the prefix it removed',
      '127.0.0.1',
      { 'x-forwarded-prefix': '/svc' },
      undefined,
      401,
    ],
    ['a proxy that sends its host', '127.0.0.1', { 'x-forwarded-host': 'example.com' }, undefined, 401],
  ]

  test.each(rows)('%s', async (_what, from, headers, setupToken, status) => {
    const app = await open()
    const answer = await app.call('POST', '/api/setup/complete', {
      from,
      headers,
      json: { ...ROOT, setupToken },
    })
    expect(answer.status).toBe(status)
    if (status === 401) expect(await answer.json()).toMatchObject({ error: 'SETUP_TOKEN_REQUIRED' })
    else expect(await answer.json()).toMatchObject({ user: { email: ROOT.email, role: 'admin' } })
  })

  test('the token and an existing admin are checked before the rest of the body', async () => {
    const app = await open()
    const statusOf = async (from: string, json: unknown) =>
      (await app.call('POST', '/api/setup/complete', { from, json })).status
    for (const json of [undefined, {}, { setupToken: null }, { setupToken: 'guess', email: 5 }])
      expect(await statusOf('203.0.113.9', json)).toBe(401)
    expect(await statusOf('203.0.113.9', { setupToken: 'test-setup-token' })).toBe(400)
    expect(await statusOf('127.0.0.1', {})).toBe(400)
    expect(await statusOf('127.0.0.1', ROOT)).toBe(201)
    expect(await statusOf('127.0.0.1', {})).toBe(409)
    expect(await statusOf('203.0.113.9', undefined)).toBe(409)
  })

  test('works once', async () => {
    const app = await open()
    const ask = () => app.call('POST', '/api/setup/complete', { json: ROOT })
    expect((await Promise.all([ask(), ask(), ask()])).map(({ status }) => status).sort()).toEqual([
      201, 409, 409,
    ])
    expect(
      (await app.call('POST', '/api/setup/complete', { json: { ...ROOT, email: 'two@example.com' } })).status,
    ).toBe(409)
  })
})

describe('the request log', () => {
  test('has a line for each request, without the query, cookies or keys', async () => {
    const app = await open({ LOG_LEVEL: 'info' })
    await app.call('GET', '/api/setup/status?token=hunter2', {
      key: 'svc_secret',
      headers: { cookie: 'sAccessToken=abc' },
    })
    const line = JSON.parse(app.lines.at(-1) ?? '{}')
    expect(line).toMatchObject({
      level: 'info',
      message: 'request',
      method: 'GET',
      path: '/api/setup/status',
      status: 200,
    })
    expect(line).toMatchObject({ host: 'localhost', ip: '127.0.0.1', time: '2026-11-20T12:00:00.000Z' })
    expect(app.lines.join('')).not.toMatch(/hunter2|svc_secret|abc/)
  })
})

test('OPTIONS and unknown methods', async () => {
  const app = await open()
  const options = await app.call('OPTIONS', '/api/projects')
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS, POST'])
  const put = await app.call('PUT', '/api/projects')
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST'])
  expect(await put.json()).toMatchObject({ statusCode: 405, error: 'Method Not Allowed' })
})

describe('a file that was sent before', () => {
  const deploy = (app: TestApp, repo: string, sha: string, text: string) =>
    seedDeployment(app, { owner: 'acme', repo, sha: sha.repeat(40), alias: 'live', files: { 'a.txt': text } })
  const hostOf = (repo: string) => `live--${repo}--acme.localhost`

  /** As Bun parses it from a socket: `target` is the target of the request line. */
  async function over(app: TestApp, target: string, headers: Record<string, string>): Promise<string> {
    const server = listening(app)
    const lines = Object.entries({ ...headers, connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    const answer = await exchange(server.port ?? 0, `GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    await server.stop(true)
    // Two responses may fall into different seconds.
    return answer.replace(/^date: .*\r\n/im, '')
  }

  function exchange(port: number, text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = ''
      void Bun.connect({
        hostname: '127.0.0.1',
        port,
        socket: {
          open: (socket) => void socket.write(text),
          data: (_, chunk) => {
            answer += chunk.toString()
          },
          close: () => resolve(answer),
          error: (_, error) => reject(error),
        },
      })
    })
  }

  async function twoSites(env: Record<string, string> = {}): Promise<TestApp> {
    const app = await open(env)
    await deploy(app, 'one', 'a', 'of one')
    await deploy(app, 'two', 'b', 'of two')
    return app
  }

  test('is the new one after a deployment, and gone when the site is private', async () => {
    const app = await twoSites()
    const ask = () => over(app, '/a.txt', { host: hostOf('one') })
    expect(await ask()).toEndWith('of one')
    expect(await ask()).toEndWith('of one')
    await deploy(app, 'one', 'c', 'newer')
    expect(await ask()).toEndWith('newer')
    inTransaction(app.ctx.db, (tx) => tx.run("UPDATE projects SET is_public = 0 WHERE name = 'one'"))
    expect(await ask()).toStartWith('HTTP/1.1 404')
  })

  test('is not sent where a rule takes the GET, whoever asked for the file by HEAD', async () => {
    const app = await open()
    const { aliasId } = await deploy(app, 'one', 'a', 'of one')
    const rule = {
      pathPattern: '/a.txt',
      methods: ['GET'],
      targetUrl: '/b.txt',
      proxyType: 'internal_rewrite',
    }
    await app.addUser(ROOT.email, 'admin')
    const made = await app.call('POST', `/api/proxy-rules/alias/${aliasId}`, { as: ROOT.email, json: rule })
    expect(made.status).toBe(201)
    const statusOf = async (method: string) =>
      (await app.call(method, '/a.txt', { host: hostOf('one') })).status
    for (let round = 0; round < 2; round++)
      expect([await statusOf('HEAD'), await statusOf('GET')]).toEqual([200, 404])
  })

  test('is sent to a GET only, and with a query too', async () => {
    const app = await twoSites()
    const ask = (method: string, path = '/a.txt') => app.call(method, path, { host: hostOf('one') })
    expect(await (await ask('GET')).text()).toBe('of one')
    const { status, headers } = await ask('HEAD')
    expect([status, headers.get('content-length'), headers.has('date')]).toEqual([200, '6', true])
    expect((await ask('POST')).status).toBe(405)
    expect(await (await ask('GET', '/a.txt?x=1')).text()).toBe('of one')
  })

  const rows: [what: string, env: Record<string, string>, target: string, headers: Record<string, string>][] =
    [
      ['a request line with another host', {}, `http://${hostOf('two')}/a.txt`, { host: hostOf('one') }],
      ['two hosts', {}, '/a.txt', { host: `${hostOf('two')}\r\nhost: ${hostOf('one')}` }],
      [
        'a host that a trusted proxy names',
        { TRUST_PROXY: '127.0.0.0/8' },
        '/a.txt',
        { host: hostOf('two'), 'x-forwarded-host': hostOf('one') },
      ],
    ]
  test.each(rows)('is not mixed up by %s', async (_what, env, target, headers) => {
    const app = await twoSites(env)
    const plain = () => over(app, '/a.txt', { host: hostOf('two') })
    const first = await over(app, target, headers)
    expect(await plain()).toEndWith('of two')
    expect(await over(app, target, headers)).toBe(first)
    expect(await plain()).toEndWith('of two')
    expect(await over(app, '/a.txt?x=1', { host: hostOf('one') })).toEndWith('of one')
  })
})
