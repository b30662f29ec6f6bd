import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { makeTicket } from '../../modules/pictures/tickets.ts'
import { ask } from '../../testing/ask.ts'
import { type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** Pictures of sites by a ticket in the address. contract 17.2. */

const PAGE = `<!doctype html><html><head><link rel="stylesheet" href="/assets/app.css"><base href="/x/">
<style>@import "/more.css"; body { background: url('/bg.png') }</style></head>
<body style="background: url(/b.png)"><img src="/a.png" srcset="/a.png 1x, //cdn.example/b.png 2x" alt="/no">
<video poster="/p.png"></video><object data="/o.svg"></object><a href="//other.example/">x</a><a href="about">y</a>
<script>fetch('/api/x')</script></body></html>`

let app: TestApp
let site: Seeded
let other: Seeded
beforeAll(async () => {
  app = await testApp()
  await app.addUser('root@example.com', 'admin')
  const files = {
    'dist/index.html': PAGE,
    'dist/assets/app.css': '@import "/x.css"; a { background: URL( /a.png ) }',
    'dist/assets/app.js': 'export {}',
    'dist/about.html': '<p>About</p>',
    'dist/_headers': '/*\n  X-Own: yes\n  Set-Cookie: a=b',
    'dist/_redirects': '/old /about 301',
    'secret.txt': 'outside',
  }
  const sha = 'a'.repeat(40)
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha,
    files,
    basePath: '/dist',
    isPublic: false,
    alias: 'production',
  })
  other = await seedDeployment(app, {
    owner: 'acme',
    repo: 'other',
    sha,
    files: { 'index.html': 'other', 'only.txt': 'x' },
  })
})
afterAll(() => app.close())

const mountOf = (seeded = site, basePath = '/dist') =>
  `/_svc/picture/${makeTicket(app.ctx, { deploymentId: seeded.deploymentId, basePath })}`
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.call(method, path, { headers })

test('a page comes with its paths led below the mount, and nothing else of it changed', async () => {
  const mount = mountOf()
  const answer = await get(`${mount}/`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const led = (path: string) => `${mount}${path}`
  expect(await answer.text()).toBe(
    PAGE.replace('"/assets/app.css"', `"${led('/assets/app.css')}"`)
      .replace('"/x/"', `"${led('/x/')}"`)
      .replace('"/more.css"', `"${led('/more.css')}"`)
      .replace("'/bg.png'", `'${led('/bg.png')}'`)
      .replace('url(/b.png)', `url(${led('/b.png')})`)
      .replace('src="/a.png"', `src="${led('/a.png')}"`)
      .replace('"/a.png 1x', `"${led('/a.png')} 1x`)
      .replace('"/p.png"', `"${led('/p.png')}"`)
      .replace('"/o.svg"', `"${led('/o.svg')}"`),
  )
  const style = await get(`${mount}/assets/app.css`)
  expect(await style.text()).toBe(`@import "${led('/x.css')}"; a { background: URL( ${led('/a.png')} ) }`)
  expect(style.headers.get('content-type')).toContain('text/css')
})

test('the headers let it reach nothing but its own files', async () => {
  for (const path of ['/', '/assets/app.js', '/assets/app.css', '/old-address']) {
    const mount = mountOf()
    const { headers } = await get(`${mount}${path}`, { accept: 'text/html', cookie: 'sAccessToken=x' })
    const base = 'http://localhost'
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy': `sandbox allow-scripts; default-src ${base}${mount}/ data: blob: 'unsafe-inline' 'unsafe-eval'; form-action 'none'; frame-ancestors ${base}`,
      'document-isolation-policy': 'isolate-and-require-corp',
      'connection-allowlist': '(response-origin); webrtc=block',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, max-age=600',
    })
    for (const name of ['x-own', 'set-cookie', 'x-frame-options']) expect(headers.has(name)).toBe(false)
  }
})

test('clean addresses and the page of an app, but no lines, rules or routing files', async () => {
  const mount = mountOf()
  expect(await (await get(`${mount}/about`)).text()).toBe('<p>About</p>')
  expect(await (await get(`${mount}/deep/link`, { accept: 'text/html' })).text()).toContain('<!doctype html>')
  expect(await (await get(`${mount}/old`, { accept: 'text/html' })).text()).toContain('<!doctype html>')
  for (const path of ['/_headers', '/_redirects', '/missing.css', '/missing.js'])
    expect((await get(`${mount}${path}`)).status).toBe(404)
})

test('conditions, ranges and HEAD', async () => {
  const mount = mountOf()
  const script = await get(`${mount}/assets/app.js`)
  const etag = script.headers.get('etag') ?? ''
  expect((await get(`${mount}/assets/app.js`, { 'if-none-match': etag })).status).toBe(304)
  expect(await (await get(`${mount}/assets/app.js`, { range: 'bytes=0-2' })).text()).toBe('exp')
  for (const path of ['/', '/assets/app.js']) {
    const head = await get(`${mount}${path}`, {}, 'HEAD')
    expect(head.status).toBe(200)
    expect(head.headers.get('content-security-policy')).toStartWith('sandbox allow-scripts; ')
  }
})

test('a refusal can be read by the page in the picture, so that it is none of the browser, and opens nothing', async () => {
  const mount = mountOf()
  for (const [path, method, status] of [
    [`${mount}/_svc/other.js`, 'GET', 404],
    [`${mount}/api/notes.json`, 'GET', 404],
    [`${mount}/api/notes`, 'POST', 405],
    [`${mount}/`, 'OPTIONS', 405],
    ['/_svc/picture/wrong/app.js', 'GET', 404],
    [mount, 'GET', 404],
  ] as const) {
    const { status: is, headers } = await get(path, { origin: 'null' }, method)
    expect([path, is]).toEqual([path, status])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    for (const name of ['credentials', 'methods', 'headers'])
      expect(headers.has(`access-control-allow-${name}`)).toBe(false)
  }
})

test('the script of the sign-in dialog is empty there: nobody signs in inside a picture', async () => {
  const dialog = await get(`${mountOf()}/_svc/auth.js`, { origin: 'null' })
  expect([dialog.status, dialog.headers.get('content-type'), await dialog.text()]).toEqual([
    200,
    'text/javascript; charset=utf-8',
    '',
  ])
  expect(dialog.headers.get('access-control-allow-origin')).toBe('*')
  expect((await get('/_svc/picture/wrong/_svc/auth.js')).status).toBe(404)
})

describe('is 404', () => {
  test('for a ticket that is changed in any byte, cut or lengthened', async () => {
    const mount = mountOf()
    const start = '/_svc/picture/'.length
    for (let at = start; at < mount.length; at++) {
      const changed = mount.slice(0, at) + (mount[at] === 'A' ? 'B' : 'A') + mount.slice(at + 1)
      expect((await get(`${changed}/`)).status).toBe(404)
    }
    for (const wrong of [
      mount.slice(0, -1),
      `${mount}A`,
      `${mount}=`,
      '/_svc/picture/x',
      '/_svc/picture/',
      mount.replace('_svc', '%5Fsvc'),
    ])
      expect((await get(`${wrong}/`)).status).toBe(404)
    expect((await get(mount)).status).toBe(404)
    expect((await get(`${mount}/`)).status).toBe(200)
  })

  test('for files outside, however they are spelled, and those of another deployment', async () => {
    const mount = mountOf()
    for (const path of [
      '/..%2fsecret.txt',
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '/%2e%2e%2fsecret.txt',
      '/dist/index.html',
      '/only.txt',
      '//index.html',
    ])
      expect([path, (await get(`${mount}${path}`)).status]).toEqual([path, 404])
    expect(await (await get(`${mountOf(other, '')}/only.txt`)).text()).toBe('x')
  })

  test('after ten minutes', async () => {
    const mount = mountOf()
    app.advance(10 * 60_000 - 1)
    expect((await get(`${mount}/`)).status).toBe(200)
    app.advance(1)
    expect((await get(`${mount}/`)).status).toBe(404)
  })

  test('where a browser opens it as a page of its own', async () => {
    expect((await get(`${mountOf()}/`, { 'sec-fetch-dest': 'document' })).status).toBe(404)
    expect((await get(`${mountOf()}/`, { 'sec-fetch-dest': 'iframe' })).status).toBe(200)
  })

  test('on the host of a site', async () => {
    for (const host of [site.aliasHost, site.host, 'nothing.localhost'])
      expect((await app.call('GET', `${mountOf()}/`, { host: host ?? '' })).status).toBe(404)
  })

  test('once the deployment or its project is gone', async () => {
    const gone = await seedDeployment(app, {
      owner: 'acme',
      repo: 'gone',
      sha: 'b'.repeat(40),
      files: { 'index.html': 'x' },
    })
    const mount = mountOf(gone, '')
    expect((await get(`${mount}/`)).status).toBe(200)
    inTransaction(app.ctx.db, () =>
      app.ctx.db.sqlite.run('DELETE FROM deployments WHERE id = ?', [gone.deploymentId]),
    )
    expect((await get(`${mount}/`)).status).toBe(404)
  })
})

test('other methods are 405', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect((await get(`${mountOf()}/`, {}, method)).status).toBe(405)
})

test('nothing of it is logged, counted or limited', async () => {
  const counted = () => app.ctx.db.sqlite.query('SELECT count(*) AS n FROM audit_log').get()
  const before = counted()
  const mount = mountOf()
  for (let i = 0; i < 250; i++) expect((await get(`${mount}/about`)).status).toBe(200)
  await get('/_svc/picture/wrong/')
  expect(counted()).toEqual(before)
  const { body } = await ask(app, 'GET', '/api/logs?limit=100', { as: 'root@example.com' })
  const paths = (body['data'] as { host: string; path: string }[]).flatMap(({ host, path }) =>
    host === 'localhost' ? [path] : [],
  )
  expect(paths.filter((path) => path.startsWith('/_svc/'))).toEqual([])
})

test('with the setting off there are none', async () => {
  const mount = mountOf()
  const set = (pictures: boolean) =>
    ask(app, 'PATCH', '/api/settings', { as: 'root@example.com', json: { pictures } })
  expect((await set(false)).status).toBe(200)
  expect((await get(`${mount}/`)).status).toBe(404)
  expect((await set(true)).status).toBe(200)
  expect((await get(`${mount}/`)).status).toBe(200)
})

test('PICTURES=off fixes it', async () => {
  const fixed = await testApp({ PICTURES: 'off' })
  await fixed.addUser('root@example.com', 'admin')
  const { body } = await ask(fixed, 'GET', '/api/settings', { as: 'root@example.com' })
  expect(body['pictures']).toEqual({ value: false, source: 'environment' })
  const refused = await ask(fixed, 'PATCH', '/api/settings', {
    as: 'root@example.com',
    json: { pictures: true },
  })
  expect(refused.status).toBe(409)
  fixed.close()
})
