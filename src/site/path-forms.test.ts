import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SEED_OWNER, type Seeded, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

const SHA = 'abcdef0123456789abcdef0123456789abcdef01'
const OTHER = 'abcdef0999999999abcdef0123456789abcdef01'
const SHORT = '1234567'
const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups allow-downloads'
const NAVIGATION = {
  accept: 'text/html',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
}
const files = {
  'index.html': 'root',
  'about.html': 'about',
  'docs/index.html': 'docs',
  'a b.txt': 'spaced',
  'app.js': 'script',
  'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'page.xhtml': '<html xmlns="http://www.w3.org/1999/xhtml"/>',
  'feed.xml': '<a/>',
  'note.txt': 'note',
}

let app: TestApp
let site: Seeded
let secretId = ''
beforeAll(async () => {
  app = await testApp()
  site = await seedDeployment(app, { owner: 'Acme', repo: 'Docs', sha: SHA, alias: 'production', files })
  await seedDeployment(app, { owner: 'Acme', repo: 'Docs', sha: OTHER, files: { 'index.html': 'other' } })
  await seedDeployment(app, { owner: 'Acme', repo: 'Docs', sha: SHORT, files: { 'index.html': 'short' } })
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'built',
    sha: SHA,
    alias: 'production',
    basePath: '/my dist',
    files: { 'my dist/index.html': 'built', 'my dist/sub/a.html': 'a', 'README.html': 'readme' },
  })
  const secret = await seedDeployment(app, {
    owner: 'acme',
    repo: 'secret',
    sha: SHA,
    alias: 'production',
    isPublic: false,
    files: { 'index.html': 'secret', 'app.js': 'secret script' },
  })
  secretId = secret.projectId
})
afterAll(() => app.close())

const rows: [path: string, status: number, body: string | null][] = [
  [`/repo/Acme/Docs/${SHA}/`, 200, 'root'],
  [`/repo/Acme/Docs/${SHA}/index.html`, 200, 'root'],
  [`/repo/acme/docs/${SHA}/`, 200, 'root'],
  [`/repo/Acme/Docs/${SHA.toUpperCase()}/app.js`, 200, 'script'],
  [`/repo/Acme/Docs/${SHA}/about`, 200, 'about'],
  [`/repo/Acme/Docs/${SHA}/a%20b.txt`, 200, 'spaced'],
  ['/repo/Acme/Docs/abcdef01/', 200, 'root'],
  ['/repo/Acme/Docs/abcdef0/', 404, null],
  ['/repo/Acme/Docs/abcdef/', 404, null],
  ['/repo/Acme/Docs/1234567/', 200, 'short'],
  ['/repo/Acme/Docs/ffffffff/', 404, null],
  ['/repo/Acme/Docs/production/', 404, null],
  ['/repo/Acme/Docs/alias/production/', 200, 'root'],
  ['/repo/Acme/Docs/alias/PRODUCTION/app.js', 200, 'script'],
  ['/repo/Acme/Docs/alias/staging/', 404, null],
  [`/repo/Acme/Docs/alias/${SHA}/`, 404, null],
  ['/public/Acme/Docs/production/', 200, 'root'],
  [`/public/Acme/Docs/${SHA}/`, 200, 'root'],
  ['/public/Acme/Docs/abcdef01/docs/', 200, 'docs'],
  ['/public/Acme/Nothing/production/', 404, null],
  ['/public/Acme/Docs/', 404, null],
  ['/public/', 404, null],
  ['/repo/Acme', 404, null],
  [`/repo/%FF/Docs/${SHA}/`, 404, null],
  [`/repo/Acme/Docs/${SHA}/nothing.txt`, 404, null],
  [`/repo/acme/built/${SHA}/README.html`, 200, 'readme'],
  [`/repo/acme/built/${SHA}/my%20dist/`, 200, 'built'],
  ['/repo/acme/built/alias/production/', 200, 'built'],
]
test.each(rows)('%s is %p', async (path, status, body) => {
  const answer = await app.call('GET', path)
  expect(answer.status).toBe(status)
  if (body !== null) expect(await answer.text()).toBe(body)
})

const redirects: [path: string, headers: Record<string, string>, status: number, location: string][] = [
  [`/repo/Acme/Docs/${SHA}?a=1`, {}, 308, `/repo/Acme/Docs/${SHA}/?a=1`],
  ['/repo/Acme/Docs/alias/production', {}, 308, '/repo/Acme/Docs/alias/production/'],
  ['/public/Acme/Docs/production', {}, 308, '/public/Acme/Docs/production/'],
  [`/repo/Acme/Docs/${SHA}/docs?x`, {}, 308, `/repo/Acme/Docs/${SHA}/docs/?x`],
  [
    `/repo/Acme/Docs/${SHA}/about.html?q=1`,
    NAVIGATION,
    302,
    'http://abcdef012345--docs--acme.localhost:3000/about.html?q=1',
  ],
  ['/repo/Acme/Docs/alias/production/', NAVIGATION, 302, 'http://production--docs--acme.localhost:3000/'],
  [
    '/repo/Acme/Docs/alias/production/docs/',
    { accept: '*/*', 'sec-fetch-dest': 'document' },
    302,
    'http://production--docs--acme.localhost:3000/docs/',
  ],
  [
    '/public/Acme/Docs/production/about',
    NAVIGATION,
    302,
    'http://production--docs--acme.localhost:3000/about',
  ],
  [
    `/repo/acme/built/${SHA}/my%20dist/sub/a.html`,
    NAVIGATION,
    302,
    'http://abcdef012345--built--acme.localhost:3000/sub/a.html',
  ],
]
// A phishing page must not be able to ask for a password under the admin's address.
for (const name of ['logo.svg', 'page.xhtml', 'feed.xml'])
  redirects.push([
    `/public/Acme/Docs/production/${name}`,
    NAVIGATION,
    302,
    `http://production--docs--acme.localhost:3000/${name}`,
  ])
test.each(redirects)('%s is redirected', async (path, headers, status, location) => {
  const answer = await app.call('GET', path, { headers })
  expect([answer.status, answer.headers.get('location')]).toEqual([status, location])
})

test.each([
  ['logo.svg', { 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' }],
  ['logo.svg', {}],
  ['note.txt', NAVIGATION],
])('%s with %p is not redirected', async (name, headers) => {
  const answer = await app.call('GET', `/public/Acme/Docs/production/${name}`, { headers })
  expect([answer.status, answer.headers.get('content-security-policy')]).toEqual([200, SANDBOX])
})

test('a redirect to the folder is cached like its page', async () => {
  const open = await app.call('GET', '/public/Acme/Docs/production')
  const own = await app.call('GET', `/repo/acme/secret/${SHA}`, { as: SEED_OWNER })
  const kept = [open, own].map(({ headers }) => [headers.get('cache-control'), headers.get('vary')])
  expect(kept).toEqual([
    ['public, max-age=0, must-revalidate', null],
    ['private, max-age=0, must-revalidate', 'Cookie'],
  ])
})

describe('pages never run in the origin of the admin', () => {
  const sandboxed: [path: string, headers: Record<string, string>][] = [
    ['/public/Acme/Docs/production/', {}],
    [`/repo/Acme/Docs/${SHA}/about.html`, {}],
    [`/repo/Acme/Docs/${SHA}/app.js`, NAVIGATION],
    [`/repo/Acme/Docs/${SHA}/docs`, {}],
    [`/repo/Acme/Docs/${SHA}/about.html`, { ...NAVIGATION, 'sec-fetch-dest': 'iframe' }],
    [`/repo/acme/built/${SHA}/README.html`, NAVIGATION],
  ]
  test.each(sandboxed)('%s is sandboxed', async (path, headers) => {
    const answer = await app.call('GET', path, { headers })
    expect(answer.status).not.toBe(302)
    expect(answer.headers.get('content-security-policy')).toBe(SANDBOX)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  test.each([
    ['script', 'same-origin', 404],
    ['style', 'same-origin', 404],
    ['serviceworker', 'same-origin', 404],
    ['script', 'cross-site', 200],
    ['script', 'same-site', 200],
    ['image', 'same-origin', 200],
    ['empty', 'same-origin', 200],
  ])('a %s requested by a page of %s is %i', async (destination, from, status) => {
    const headers = { 'sec-fetch-dest': destination, 'sec-fetch-site': from }
    expect((await app.call('GET', `/repo/Acme/Docs/${SHA}/app.js`, { headers })).status).toBe(status)
  })

  test("a site's own 404 page is sandboxed too", async () => {
    await seedDeployment(app, {
      owner: 'acme',
      repo: 'x404',
      sha: SHA,
      files: { '404.html': '<script></script>' },
    })
    const answer = await app.call('GET', `/repo/acme/x404/${SHA}/nothing`, { headers: NAVIGATION })
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-security-policy')).toBe(SANDBOX)
  })

  test('a redirect to a path of slashes does not leave the host', async () => {
    await seedDeployment(app, {
      owner: 'acme',
      repo: 'slashes',
      sha: SHA,
      files: { 'evil.com/index.html': 'x' },
    })
    const answer = await app.call('GET', '//evil.com', { host: 'abcdef012345--slashes--acme.localhost' })
    expect(answer.headers.get('location') ?? '/').not.toStartWith('//')
  })

  test('private content is not shared with other origins', async () => {
    const answer = await app.call('GET', `/repo/acme/secret/${SHA}/app.js`, { as: SEED_OWNER })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect(answer.headers.get('content-security-policy')).toBe(SANDBOX)
  })
})

describe('methods', () => {
  test.each(['POST', 'DELETE'])('%s of a file is 405', async (method) => {
    const answer = await app.call(method, '/public/Acme/Docs/production/app.js')
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('HEAD has the headers of GET', async () => {
    const answer = await app.call('HEAD', '/public/Acme/Docs/production/app.js')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ])
  })
})

describe('private projects', () => {
  beforeAll(async () => {
    await app.addUser('stranger@example.com')
  })

  const refusals: [path: string, as: string | null, accept: string, status: number][] = [
    ['/public/acme/secret/production/', null, 'text/html', 404],
    ['/public/acme/secret/production/', SEED_OWNER, 'text/html', 404],
    [`/public/acme/secret/${SHA}/app.js`, SEED_OWNER, '*/*', 404],
    [`/repo/acme/secret/${SHA}/`, null, 'text/html', 404],
    ['/repo/acme/secret/alias/production/', null, 'text/html', 404],
    [`/repo/acme/secret/${SHA}/`, 'stranger@example.com', 'text/html', 403],
    [`/repo/acme/secret/${SHA}/`, 'stranger@example.com', 'application/json', 403],
    [`/repo/acme/secret/${SHA}/`, SEED_OWNER, 'text/html', 200],
    ['/repo/acme/secret/alias/production/', SEED_OWNER, 'text/html', 200],
  ]
  test.each(refusals)('%s as %p accepting %s is %p', async (path, as, accept, status) => {
    const answer = await app.call('GET', path, { as: as ?? undefined, headers: { accept } })
    expect(answer.status).toBe(status)
    if (status === 200) expect(answer.headers.get('cache-control')).toStartWith('private')
    else expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  const forms = [
    '/public/acme/REPO/production/',
    '/repo/acme/REPO/alias/production/',
    `/repo/acme/REPO/${SHA}/app.js`,
  ]
  test.each([...forms, `/repo/acme/REPO/${SHA}`])(
    '%s looks like something that does not exist',
    async (form) => {
      const [refused, missing] = await Promise.all(
        ['secret', 'nothing'].map((repo) =>
          app.call('GET', form.replace('REPO', repo), { headers: { accept: 'text/html' } }),
        ),
      )
      expect(refused?.status).toBe(404)
      expect(await refused?.text()).toBe((await missing?.text()) ?? '')
      expect([...(refused?.headers ?? [])]).toEqual([...(missing?.headers ?? [])])
    },
  )

  test('signing in leads back to the path form', async () => {
    await app.call('PATCH', `/api/projects/${secretId}`, {
      as: SEED_OWNER,
      json: { privateSiteResponse: 'login' },
    })
    const answer = await app.call('GET', `/repo/acme/secret/${SHA}/?a`, { headers: NAVIGATION })
    const back = encodeURIComponent(`http://localhost:3000/repo/acme/secret/${SHA}/?a`)
    expect(answer.headers.get('location')).toBe(`http://localhost:3000/signin?redirect=${back}`)
  })
})

test('a pipeline knows the caller, except below /public, which ignores credentials', async () => {
  const { projectId } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'who',
    sha: SHA,
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  const steps = [{ id: 'tell', handlerType: 'response_handler', config: { body: '{{{user}}}' } }]
  const rule = { pathPattern: '/whoami', proxyType: 'pipeline', pipelineConfig: { steps } }
  const made = await app.call('POST', `/api/proxy-rules/project/${projectId}`, { as: SEED_OWNER, json: rule })
  expect(made.status).toBe(201)
  const ask = async (form: string) => (await app.call('GET', `${form}/whoami`, { as: SEED_OWNER })).json()
  expect(await ask('/repo/acme/who/alias/production')).toMatchObject({ email: SEED_OWNER })
  expect(await ask(`/repo/acme/who/${SHA}`)).toMatchObject({ email: SEED_OWNER })
  expect(await ask('/public/acme/who/production')).toBeNull()
  expect(await ask(`/public/acme/who/${SHA}`)).toBeNull()
})

test('a site on its own host is not sandboxed', async () => {
  const answer = await app.call('GET', '/', { host: site.host })
  expect(answer.headers.get('content-security-policy')).toBeNull()
  expect(answer.headers.get('access-control-allow-origin')).toBeNull()
})
