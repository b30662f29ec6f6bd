import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DOCS, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf } from '../testing/browser.ts'
import { kindOf, wordsOf } from './match.ts'

type Found = { id: string; name: string; group: string; does: { kind: string; href?: string; text?: string } }

let app: TestApp
let browser: Browser
let projectId: string
beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const site = { ...DOCS, alias: 'production' }
  projectId = (await seedDeployment(app, site)).projectId
  await seedDeployment(app, { ...site, sha: 'b'.repeat(40), files: { 'index.html': 'y' } })
  for (const role of ['viewer', 'contributor', 'admin', 'guest'] as const)
    await seedMember(app, projectId, role)
})
afterAll(() => app.close())

const commands = async (query: string, as: string, more = ''): Promise<Found[]> => {
  const answer = await app.call('GET', `/commands.json?q=${encodeURIComponent(query)}${more}`, { as })
  expect(answer.status).toBe(200)
  return (await answer.json()).commands
}
const names = async (query: string, as: string, more = ''): Promise<string[]> =>
  (await commands(query, as, more)).map(({ name }) => name)

const OF_PROJECT = [
  'docs',
  'Open docs',
  'Copy the address of docs',
  'Publish to docs',
  'Roll back docs',
  'People of docs',
  'Settings of docs',
]

describe('the commands', () => {
  test.each([
    [ADMIN, OF_PROJECT],
    ['admin@example.com', OF_PROJECT],
    ['contributor@example.com', OF_PROJECT.filter((name) => name !== 'Settings of docs')],
    ['viewer@example.com', OF_PROJECT.filter((name) => !/^(Publish|Roll|Settings)/.test(name))],
    ['guest@example.com', []],
  ])('of %s on the project are those that the role allows', async (as, expected) => {
    const found = await commands('docs', as)
    const ofProject = found.filter(({ group }) => group === 'acme/docs').map(({ name }) => name)
    expect(ofProject.sort()).toEqual([...expected].sort())
  })

  test('of a person who may nothing are pages, themes, documents and signing out', async () => {
    const found = await commands('', 'guest@example.com')
    const all = found.map(({ name }) => name)
    for (const name of ['System theme', 'Light theme', 'Dark theme', 'Sign out', 'Documents', 'Your account'])
      expect(all).toContain(name)
    for (const name of ['New project', 'Invite somebody', 'Users', 'docs']) expect(all).not.toContain(name)
  })

  test('each opens a page that the person may see', async () => {
    for (const as of [ADMIN, 'viewer@example.com', 'contributor@example.com'])
      for (const query of ['', 'docs', 'e', 'backup']) {
        const found = await commands(query, as, `&project=${projectId}`)
        expect(found.length).toBeGreaterThan(0)
        for (const { does } of found) {
          const { href = '' } = does
          if (!href.startsWith('/') || href.startsWith('/api/')) continue
          const answer = await browser.open(href.replace(/#.*/, ''), { as })
          expect(`${as} ${href} ${answer.status < 400}`).toBe(`${as} ${href} true`)
        }
      }
  })

  test('on a page of a project begin with its pages', async () => {
    const found = await commands('', 'viewer@example.com', `&project=${projectId}`)
    expect(found[0]).toMatchObject({ name: 'Overview', group: 'acme/docs' })
    expect(found.map(({ name }) => name)).not.toContain('Secrets')
    const unknown = await names('', 'viewer@example.com', '&project=nope')
    expect(unknown[0]).not.toBe('Overview')
  })

  test('used last come first, at most five, and only what is still allowed', async () => {
    const ids = [
      'Dark theme',
      'Sign out',
      'page /account',
      'Documents',
      'page /',
      'Light theme',
      'New project',
    ]
    const recent = ['page /admin/users', ...ids].map((id) => `&recent=${encodeURIComponent(id)}`).join('')
    const found = await commands('', 'viewer@example.com', recent)
    const last = found.filter(({ group }) => group === 'Last used').map(({ id }) => id)
    expect(last).toEqual(ids.slice(0, 5))
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    const dark = await names('theme', ADMIN, '&recent=Dark%20theme')
    expect(dark[0]).toBe('Dark theme')
  })

  test('know headings of the documents, and for global admins people', async () => {
    const [heading] = await commands('rotating secrets', 'viewer@example.com')
    expect(heading).toMatchObject({ group: 'Documents', does: { href: '/docs/operating#rotating-secrets' } })
    expect(await names('contributor@', ADMIN)).toContain('contributor@example.com')
    expect(await names('contributor@', 'viewer@example.com')).toEqual([])
  })

  test('"Roll back" leads into the dialog of the button, and is not there without a way back', async () => {
    const [found] = await commands('roll back docs', ADMIN)
    const [path = '', id = ''] = (found?.does.href ?? '').split('#')
    const html = await (await browser.open(path, { as: ADMIN })).text()
    expect(path).toBe(`/projects/${projectId}`)
    expect(html).toContain(`popovertarget="${id}"`)
    expect(html).toContain(`<div id="${id}" class="dialog" popover`)
    const { projectId: bare } = await seedDeployment(app, { ...DOCS, repo: 'bare', alias: 'production' })
    expect(await names('bare', ADMIN, `&project=${bare}`)).not.toContain('Roll back bare')
  })

  test('"Invite somebody" leads to the project of the page, and an admin elsewhere to the users', async () => {
    const href = async (as: string, more = '') => (await commands('invite', as, more))[0]?.does.href
    expect(await href('admin@example.com')).toBe(`/projects/${projectId}/people#invite`)
    expect(await href(ADMIN)).toBe('/admin/users#new-user')
    expect(await href(ADMIN, `&project=${projectId}`)).toBe(`/projects/${projectId}/people#invite`)
  })

  test.each([['x'.repeat(10_000)], ['<script>alert(1)</script>'], ['%']])(
    'a query that is nothing finds nothing: %s',
    async (query) => {
      expect(await commands(query, ADMIN)).toEqual([])
      const page = await (
        await browser.open(`/commands?q=${encodeURIComponent(query)}`, { as: ADMIN })
      ).text()
      expect(page).toContain('Nothing found')
      expect(page).not.toContain('<script>alert')
    },
  )

  test('need somebody who is signed in', async () => {
    expect((await app.call('GET', '/commands.json')).status).toBe(401)
    expect((await browser.open('/commands')).headers.get('location')).toStartWith('/signin')
  })

  test('are a page without scripts', async () => {
    const home = await (await browser.open('/', { as: ADMIN })).text()
    expect(home).toMatch(
      /<form method="get" action="\/commands"[^>]*>\s*<button[^>]*aria-label="Search and commands"/,
    )
    const page = await (await browser.open('/commands?q=theme', { as: ADMIN })).text()
    expect(page).toContain('<h1>Commands</h1>')
    expect(page).toMatch(/action="\/theme">.*name="theme" value="dark"/s)
  })
})

test.each([
  ['New project', 'new', 0],
  ['New project', 'pro ne', 0],
  ['New project', 'ject', 1],
  ['New project', 'new ject', 1],
  ['New project', 'nprj', 2],
  ['Größe', 'grosse', undefined],
  ['Café of Éva', 'cafe eva', 0],
  ['acme/handbook', 'hand', 0],
  ['New project', 'project of', undefined],
  ['New project', 'wen', undefined],
])('%s by “%s” is of kind %p', (name, query, kind) => {
  expect(kindOf(name, wordsOf(query))).toBe(kind)
})

describe('the theme', () => {
  const choose = (theme: string, headers: Record<string, string> = {}) =>
    browser.submit('/theme', { theme }, { headers })

  test.each([
    ['dark', /^svc_theme=dark; Path=\/; Max-Age=31536000;/],
    ['light', /^svc_theme=light; Path=\/; Max-Age=31536000;/],
    ['system', /^svc_theme=; Path=\/; Max-Age=0;/],
    ['"><script>', /^svc_theme=; Path=\/; Max-Age=0;/],
  ])('%s is a cookie, and leads back to the page', async (theme, cookie) => {
    const answer = await choose(theme, { referer: 'http://localhost/admin/users?q=a' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/admin/users?q=a'])
    expect(answer.headers.get('set-cookie')).toMatch(cookie)
  })

  test.each(['http://evil.example/x', 'javascript:alert(1)', 'x', ''])(
    'leads nowhere else: %s',
    async (referer) => {
      expect((await choose('dark', { referer })).headers.get('location')).toBe('/')
    },
  )

  test('is in the page as it is sent', async () => {
    const cookie = await app.cookieOf(ADMIN)
    const open = async (theme: string) =>
      (await browser.open('/', { headers: { cookie: `${cookie}; svc_theme=${theme}` } })).text()
    const dark = await open('dark')
    expect(dark).toContain('data-theme="dark"')
    expect(dark).toMatch(/value="dark" aria-pressed="true"/)
    expect(dark).toMatch(/value="system" aria-pressed="false"/)
    expect(await open('light')).toContain('name="color-scheme" content="light"')
    expect(await open('"><script>')).not.toContain('data-theme')
  })
})
