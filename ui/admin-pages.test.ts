import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOperatorKey } from '../src/modules/api-keys/service.ts'
import { seedDeployment } from '../src/testing/seed.ts'
import { type TestApp, testApp } from '../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf, withoutPageIds } from './testing/browser.ts'

const USER = 'grace@example.com'
const MEMBER = 'mel@example.com'
const SHA = 'c0ffee1234567890c0ffee1234567890c0ffee12'

let app: TestApp
let browser: Browser
let published: { projectId: string; aliasHost: string | null }
beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  await app.addUser(USER, 'user')
  await app.addUser(MEMBER, 'member')
  published = await seedDeployment(app, {
    owner: 'acme',
    repo: 'website',
    sha: SHA,
    alias: 'production',
    isPublic: false,
    files: { 'index.html': '<h1>Hello</h1>', '404.html': '<h1>Not here</h1>' },
  })
})
afterAll(() => app.close())

const textOf = async (answer: Response) => {
  expect(answer.status).toBe(200)
  return answer.text()
}

const grant = (email: string, role: string, projectId = published.projectId) =>
  app.call('POST', `/api/projects/${projectId}/permissions/users`, {
    as: ADMIN,
    json: { email, role },
  })

describe('the list of projects', () => {
  test('shows what the API lists, with a link to each site', async () => {
    const html = await textOf(await browser.open('/', { as: ADMIN }))
    expect(html).toContain(`href="/projects/${published.projectId}"`)
    // It is private, and the session of the admin does not reach it.
    const site = encodeURIComponent(`http://${published.aliasHost}:3000`)
    expect(html).toContain(`href="/signin?redirect=${site}"`)
    expect(html).toContain('20 Nov 2026, 12:00 UTC')
  })

  test('names a project without a display name in full', async () => {
    const named = { owner: 'acme', name: 'menu', displayName: 'Our menu' }
    for (const json of [{ owner: 'bob', name: 'website' }, named])
      expect((await app.call('POST', '/api/projects', { as: ADMIN, json })).status).toBe(201)
    const html = await textOf(await browser.open('/', { as: ADMIN }))
    for (const title of ['acme/website', 'bob/website', 'Our menu'])
      expect(html).toContain(`<strong>${title}</strong></a>`)
    expect(html.match(/acme\/website<|acme\/menu</g)).toHaveLength(2)
    expect(html).toContain('aria-label="Open website"')
  })

  test('is where /projects leads', async () => {
    expect(redirectOf(await browser.open('/projects', { as: MEMBER }))).toEqual([302, '/'])
  })

  test('is searched by every name of a project', async () => {
    const found = async (search: string) =>
      (await textOf(await browser.open(`/?q=${search}`, { as: ADMIN }))).includes(published.projectId)
    expect([await found('WEBS'), await found('acme%2Fweb'), await found('zebra')]).toEqual([
      true,
      true,
      false,
    ])
  })

  test('hides projects from people without a role on them, and the form from members', async () => {
    const other = await app.call('POST', '/api/projects', {
      as: ADMIN,
      json: { owner: 'acme', name: 'other' },
    })
    const { id: projectId } = (await other.json()) as { id: string }
    await grant(MEMBER, 'viewer', projectId)
    const html = await textOf(await browser.open('/', { as: MEMBER }))
    expect(html).toContain('acme/other')
    expect(html).not.toContain('website')
    expect(html).not.toContain('New project')
    expect(html).not.toContain('href="/keys"')
  })

  test('is not for guests: their sites stand in their account', async () => {
    await app.addUser('guest@example.com', 'member')
    expect((await grant('guest@example.com', 'guest')).status).toBe(201)
    const home = await browser.open('/', { as: 'guest@example.com' })
    expect(redirectOf(home)).toEqual([303, '/account'])
    const html = await textOf(await browser.open('/account', { as: 'guest@example.com' }))
    expect(html).toContain('acme/website')
    expect(html).not.toContain(`/projects/${published.projectId}`)
    const own = await browser.open(`/projects/${published.projectId}`, { as: 'guest@example.com' })
    expect(own.status).toBe(403)
  })
})

describe('a new project', () => {
  const fields = { intent: 'create-project', owner: 'grace', repo: 'notes' }

  test('is created by its form, which leads to its page', async () => {
    const answer = await browser.submit('/projects/new', fields, { as: USER })
    const [status, location] = redirectOf(answer)
    expect(status).toBe(303)
    const html = await textOf(await browser.open(String(location), { as: USER }))
    expect(html).toContain('grace/notes')
    expect(html).toContain('The project was created.')
    expect(html).toContain('--project grace/notes')
    expect(html).not.toContain('Open the site')
  })

  test('reports errors and keeps what was typed', async () => {
    const taken = await browser.submit('/projects/new', { ...fields, isPublic: 'true' }, { as: USER })
    expect(taken.status).toBe(409)
    expect(await taken.text()).toContain('grace/notes already exists')
    const bad = await browser.submit(
      '/projects/new',
      { ...fields, repo: 'web site', isPublic: 'true' },
      { as: USER },
    )
    const html = await bad.text()
    expect(bad.status).toBe(400)
    expect(html).toContain('id="repo-error"')
    expect(html).toContain('value="web site"')
    expect(html).toMatch(/name="isPublic"[^>]*checked/)
  })

  test('is not for members', async () => {
    const answer = await browser.submit('/projects/new', { ...fields, repo: 'other' }, { as: MEMBER })
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('Members cannot create projects')
  })
})

describe('the page of a project', () => {
  test('shows its deployments and aliases', async () => {
    const html = await textOf(await browser.open(`/projects/${published.projectId}`, { as: ADMIN }))
    expect(html).toContain(SHA.slice(0, 12))
    expect(html).toContain(`<a href="http://${published.aliasHost}:3000">${published.aliasHost}:3000</a>`)
  })

  test('is the same 404 for strangers as an unknown project', async () => {
    const hidden = await browser.open(`/projects/${published.projectId}`, { as: MEMBER })
    const unknown = await browser.open(`/projects/${app.ctx.newId()}`, { as: MEMBER })
    expect([hidden.status, unknown.status]).toEqual([404, 404])
    expect(withoutPageIds(await hidden.text())).toBe(withoutPageIds(await unknown.text()))
  })
})

describe('API keys', () => {
  const fields = { intent: 'create-key', name: 'ci', scope: 'global', expiresInDays: '30' }

  test('are for global admins', async () => {
    for (const as of [USER, MEMBER]) {
      expect((await browser.open('/keys', { as })).status).toBe(403)
      expect((await browser.submit('/keys', fields, { as })).status).toBe(403)
    }
    expect(redirectOf(await browser.open('/keys'))).toEqual([303, '/signin?redirect=%2Fkeys'])
  })

  test('are shown once, work, and stop working when revoked', async () => {
    const html = await textOf(await browser.submit('/keys', fields, { as: ADMIN }))
    const key = html.match(/svc_[A-Za-z0-9_-]{43}/)?.[0] ?? ''
    expect((await app.call('GET', '/api/projects', { key })).status).toBe(200)
    const list = await textOf(await browser.open('/keys', { as: ADMIN }))
    expect(list).not.toContain(key)
    expect(list).toContain('20 Dec 2026')
    const keyId = list.match(/name="keyId" value="([^"]+)"/)?.[1] ?? ''
    const revoked = await browser.submit('/keys', { intent: 'revoke-key', keyId }, { as: ADMIN })
    expect(redirectOf(revoked)).toEqual([303, '/keys?done=revoked'])
    expect((await app.call('GET', '/api/projects', { key })).status).toBe(401)
    expect(await textOf(await browser.open('/keys?done=revoked', { as: ADMIN }))).toContain(
      'The key was revoked.',
    )
  })

  test('are shown 50 a page, and each can be revoked from its page', async () => {
    for (let i = 0; i <= 50; i++) createOperatorKey(app.ctx, { name: `key ${i}`, repository: null })
    const idsOf = (html: string) => [...html.matchAll(/name="keyId" value="([^"]+)"/g)].map(([, id]) => id)
    const first = await textOf(await browser.open('/keys', { as: ADMIN }))
    expect(idsOf(first)).toHaveLength(50)
    expect(first).toContain('href="/keys?page=2"')
    const [last, ...rest] = idsOf(await textOf(await browser.open('/keys?page=2', { as: ADMIN })))
    expect(rest).toEqual([])
    expect(idsOf(first)).not.toContain(last)
    const keyId = last ?? ''
    const revoked = await browser.submit('/keys?page=2', { intent: 'revoke-key', keyId }, { as: ADMIN })
    expect(redirectOf(revoked)).toEqual([303, '/keys?done=revoked&page=2'])
    const after = await textOf(await browser.open('/keys?done=revoked&page=2', { as: ADMIN }))
    expect(idsOf(after)).toEqual(idsOf(first))
    expect(after).not.toContain('aria-label="Pages"')
  })

  const wrong: [what: string, fields: Record<string, string>, status: number, shown: string][] = [
    ['no name', { ...fields, name: ' ' }, 400, 'id="name-error"'],
    ['a time of its own', { ...fields, expiresInDays: '-1' }, 400, 'id="expiresInDays-error"'],
    ['an unknown project', { ...fields, scope: 'nope' }, 404, 'There is no such project'],
    ['no intent', {}, 400, 'does not say what to do'],
    ['an unknown key', { intent: 'revoke-key', keyId: 'nope' }, 404, 'no such API key'],
  ]
  test.each(wrong)('%s is refused', async (_what, sent, status, shown) => {
    const answer = await browser.submit('/keys', sent, { as: ADMIN })
    expect(answer.status).toBe(status)
    expect(await answer.text()).toContain(shown)
  })
})

describe('the responses of every page', () => {
  test.each(['/', '/keys', '/signin', '/no-such-page', '/projects/nope'])('%s is guarded', async (path) => {
    const { headers } = await browser.open(path, { as: path === '/signin' ? undefined : ADMIN })
    const policy = headers.get('content-security-policy') ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ])
      expect(policy).toContain(rule)
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBeNull() // no-referrer would make forms cross-origin
  })

  const voices: [method: string, path: string, accept: string, status: number, type: string][] = [
    ['GET', '/no-such-page', 'text/html', 404, 'text/html'],
    ['GET', '/no-such-page', '*/*', 404, 'application/json'],
    ['GET', '/_svc/nothing', 'text/html', 404, 'text/html'],
    ['GET', '/_svc/nothing', '*/*', 404, 'application/json'],
    ['GET', '/_svc/auth/nothing', 'text/html', 404, 'application/json'],
    ['GET', '/api/nothing', 'text/html', 404, 'application/json'],
    ['PUT', '/keys', 'text/html', 405, 'text/html'],
    ['GET', '/keys', '*/*', 401, 'application/json'],
  ]
  test.each(voices)('%s %s for %s answers %d in %s', async (method, path, accept, status, type) => {
    const answer = await app.call(method, path, { headers: { accept } })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toStartWith(type)
  })

  test('HEAD answers as GET', async () => {
    const answer = await app.call('HEAD', '/signin')
    expect(answer.status).toBe(200)
  })

  test('a host name without dots is accepted', async () => {
    const nas = await testApp({ ADMIN_HOST: 'nas' })
    await nas.addUser(ADMIN, 'admin')
    for (const path of ['/signin', '/api/health', '/api/docs/json'])
      expect((await nas.call('GET', path, { host: 'nas' })).status).toBe(200)
    nas.close()
  })

  test('an internal failure shows no details', async () => {
    const broken = await testApp()
    await broken.addUser(ADMIN, 'admin')
    await broken.cookieOf(ADMIN)
    broken.ctx.db.sqlite.run('ALTER TABLE api_keys RENAME TO hidden_away')
    const answer = await browserOf(broken).open('/keys', { as: ADMIN })
    const html = await answer.text()
    expect(answer.status).toBe(500)
    expect(html).toContain('Something went wrong')
    expect(html).not.toMatch(/sqlite|api_keys|SELECT/i)
    expect(broken.lines.join()).toContain('api_keys')
    broken.close()
  })
})

describe('on other hosts', () => {
  const host = () => published.aliasHost ?? ''

  test('a private site shows 404, or 403 to people without a role, with a sign-out on its own host', async () => {
    expect((await browser.open('/', { host: host() })).status).toBe(404)
    const answer = await browser.open('/', { host: host(), as: MEMBER })
    const html = await answer.text()
    expect(answer.status).toBe(403)
    expect(html).toContain(MEMBER)
    expect(html).toContain('action="/_svc/signout"')
    expect(html).toContain('href="http://localhost:3000/account"')
    const out = await browser.submit('/_svc/signout', {}, { host: host(), as: MEMBER })
    expect(await textOf(out)).toContain('content="0;url=/"')
  })

  test('a hidden site and a missing one show the same page, the way to sign in first', async () => {
    const hidden = await browser.open('/', { host: host() })
    const missing = await browser.open('/', { host: 'nobody.localhost' })
    const html = (await hidden.text()).replaceAll(host(), 'nobody.localhost')
    expect([hidden.status, html]).toEqual([missing.status, await missing.text()])
    expect(html.indexOf('Is it a private site? Sign in')).toBeGreaterThan(0)
    expect(html.indexOf('Is it a private site? Sign in')).toBeLessThan(html.indexOf('Check the address'))
  })

  test('the admin pages are not found', async () => {
    for (const path of ['/signin', '/keys', '/robots.txt', '/_svc/keys', '/api/docs'])
      expect((await browser.open(path, { host: host(), as: ADMIN })).status).toBe(404)
  })

  test('an unknown host shows a page and the assets it needs', async () => {
    const answer = await browser.open('/', { host: 'nobody.localhost' })
    const html = await answer.text()
    expect(answer.status).toBe(404)
    expect(html).toContain('No site lives here')
    const assets = html.match(/\/_svc\/assets\/[\w.]+/g) ?? []
    expect(assets).toHaveLength(2)
    for (const asset of assets)
      expect((await browser.open(asset, { host: 'nobody.localhost' })).status).toBe(200)
  })
})
