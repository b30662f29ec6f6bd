import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Seeded, seedDeployment } from '../testing/seed.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../testing/test-app.ts'

/** From the address of a private site to the page behind it. contract 12.13. */
let app: TestApp
let site: Seeded
beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'admin.sites.test' })
  await app.addUser('ann@example.com', 'admin')
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: '1'.repeat(40),
    alias: 'production',
    files: { 'index.html': '<h1>home</h1>', 'guide.html': '<h1>guide</h1>' },
    isPublic: false,
  })
})
afterAll(() => app.close())

const PATHS = [
  '/',
  '/guide?q=1&x=%26',
  '/a%20b/?a=b',
  '/%5C/?%5C',
  `/long?q=${'x'.repeat(4000)}`,
  '/nothing.png',
]
const visit = (host: string, path: string) =>
  app.call('GET', path, { host, headers: { accept: 'text/html' } })

test.each(PATHS)('the page of %p is the same where nothing exists', async (path) => {
  const hidden = await visit(String(site.aliasHost), path)
  const nowhere = await visit('nothing--docs--acme.sites.test', path)
  expect([hidden.status, [...hidden.headers]]).toEqual([nowhere.status, [...nowhere.headers]])
  expect(await hidden.text()).toBe(
    (await nowhere.text()).replaceAll('nothing--docs--acme.sites.test', String(site.aliasHost)),
  )
})

test.each(PATHS)('its link leads to sign-in and back to %p', async (path) => {
  const host = String(site.aliasHost)
  const [, link = ''] = /href="([^"]*signin[^"]*)"/.exec(await (await visit(host, path)).text()) ?? []
  const redirect = new URL(link.replaceAll('&amp;', '&')).searchParams.get('redirect') ?? ''
  expect(redirect).toBe(`http://${host}:3000${path}`)
  const form = new URLSearchParams({ email: 'ann@example.com', password: PASSWORD, redirect })
  const signedIn = await app.call('POST', '/signin', { host: 'admin.sites.test', body: form })
  expect(cookieHeader(signedIn)).toContain('sAccessToken=')
  expect((await signedIn.text()).replaceAll('&amp;', '&')).toContain(redirect)
})
