import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DOCS, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let site: Awaited<ReturnType<typeof seedDeployment>>
let viewer: string
beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  await app.addUser('stranger@example.com', 'user')
  site = await seedDeployment(app, { ...DOCS, repo: 'handbook', alias: 'live' })
  viewer = await seedMember(app, site.projectId, 'viewer')
})
afterAll(() => app.close())

const MENU = 'aria-label="Account menu of'

test('a page of a project that needs another role keeps the project in view and says whom to ask', async () => {
  const answer = await browser.open(`/projects/${site.projectId}/settings`, { as: viewer })
  const html = await answer.text()
  expect(answer.status).toBe(403)
  expect(html).toContain(MENU)
  expect(html).toContain('This needs the role admin or higher on the project; you have viewer.<')
  expect(html).toContain(`href="/projects/${site.projectId}/deployments"`)
  expect(html).toContain(`<a href="/projects/${site.projectId}/people">People</a>`)
})

test('what a project does not have leads back to the project', async () => {
  const answer = await browser.open(`/projects/${site.projectId}/aliases/nope`, { as: viewer })
  const html = await answer.text()
  expect(answer.status).toBe(404)
  expect(html).toContain(`<a href="/projects/${site.projectId}">Go to `)
  expect(html).not.toContain('can give you that role')
})

test.each([
  ['another path', '/no-such-page', ADMIN, 404],
  ['the workspace', '/admin/users', 'stranger@example.com', 403],
  ['a project without a role', '', 'stranger@example.com', 404],
])('%s keeps the frame of the admin without a project', async (_what, path, as, status) => {
  const answer = await browser.open(path || `/projects/${site.projectId}/people`, { as })
  const html = await answer.text()
  expect(answer.status).toBe(status)
  expect(html).toContain(MENU)
  expect(html).toContain('Go to the start page')
  expect(html).not.toContain('handbook')
})

test('somebody who is not signed in gets no frame', async () => {
  const html = await (await browser.open('/reset-password/nothing')).text()
  expect(html).toContain('Go to the start page')
  expect(html).not.toContain('class="sidebar"')
})

test('a path that a site does not have leads to its start page, but the start page not to itself', async () => {
  const files = { 'a.txt': 'a' }
  const { aliasHost } = await seedDeployment(app, { ...DOCS, repo: 'bare', alias: 'live', files })
  const host = new URL(`http://${aliasHost}`).hostname
  const link = 'Go to the start page'
  expect(await (await browser.open('/missing', { host })).text()).toContain(link)
  expect(await (await browser.open('/', { host })).text()).not.toContain(link)
})
