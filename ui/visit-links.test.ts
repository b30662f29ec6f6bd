import { afterAll, beforeAll, expect, test } from 'bun:test'
import { seedDeployment } from '../src/testing/seed.ts'
import { type TestApp, testApp } from '../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf } from './testing/browser.ts'

let app: TestApp
let browser: Browser
beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
})
afterAll(() => app.close())

const files = { 'index.html': '<h1>Hello</h1>' }
const OF_PROJECT = [true, false]
const OF_ALIAS = [null, true, false]

/** A new project with one alias. `isPublic` null means the same as the project. */
async function publish(alias: { name: string; isPublic: boolean | null }, isPublic: boolean) {
  const repo = `site-${app.ctx.newId().slice(-12)}`
  const seed = { owner: 'acme', repo, sha: 'c0ffee1', alias: alias.name, isPublic, files }
  const { projectId, aliasId, aliasHost } = await seedDeployment(app, seed)
  const change = { as: ADMIN, json: { isPublic: alias.isPublic } }
  expect((await app.call('PATCH', `/api/aliases/${aliasId}`, change)).status).toBe(200)
  const host = aliasHost ?? ''
  return { repo, projectId, host, url: app.ctx.siteUrl(host) }
}

type Published = Awaited<ReturnType<typeof publish>>

const bySignIn = (url: string): string => `/signin?${new URLSearchParams({ redirect: url })}`

/** The links to the site from the list of projects and from the project's page. */
async function linksTo({ repo, projectId }: Published): Promise<(string | undefined)[]> {
  const home = await (await browser.open(`/?q=${repo}`, { as: ADMIN })).text()
  const own = await (await browser.open(`/projects/${projectId}`, { as: ADMIN })).text()
  return [
    /href="([^"]+)" aria-label="Open/.exec(home)?.[1],
    /href="([^"]+)"[^>]*>\s*Open the site/.exec(own)?.[1],
  ]
}

const all = OF_PROJECT.flatMap((project) =>
  OF_ALIAS.map((alias): [boolean, boolean | null] => [project, alias]),
)

test.each(all)('a project that is public: %p, by an alias that is: %p', async (project, alias) => {
  const site = await publish({ name: 'production', isPublic: alias }, project)
  // A private site is hidden from strangers, and so from anybody without a session on its host.
  const stranger = await app.call('GET', '/', { host: site.host })
  const isOpen = alias ?? project
  expect(stranger.status).toBe(isOpen ? 200 : 404)
  const link = isOpen ? site.url : bySignIn(site.url)
  expect(await linksTo(site)).toEqual([link, link])
})

test('without an alias production it is the only alias', async () => {
  const site = await publish({ name: 'preview', isPublic: false }, true)
  expect(await linksTo(site)).toEqual([bySignIn(site.url), bySignIn(site.url)])
})

test('the list of projects links by the sign-in page if it does not know the alias', async () => {
  const site = await publish({ name: 'preview', isPublic: null }, true)
  expect(await linksTo(site)).toEqual([bySignIn(site.url), site.url])
})

test('aliases other than production do not matter', async () => {
  const site = await publish({ name: 'production', isPublic: null }, true)
  const json = { projectId: site.projectId, name: 'hidden', commitSha: 'c0ffee1', isPublic: false }
  expect((await app.call('POST', '/api/aliases', { as: ADMIN, json })).status).toBe(201)
  expect(await linksTo(site)).toEqual([site.url, site.url])
})

test('in a list of several projects each link goes by its own alias', async () => {
  const sites = [
    await publish({ name: 'production', isPublic: true }, false),
    await publish({ name: 'production', isPublic: false }, true),
    await publish({ name: 'production', isPublic: null }, true),
  ]
  const home = await (await browser.open('/', { as: ADMIN })).text()
  const links = sites.map(
    ({ repo }) => new RegExp(`href="([^"]+)" aria-label="Open ${repo}"`).exec(home)?.[1],
  )
  const [open, hidden, inherited] = sites.map(({ url }) => url)
  expect(links).toEqual([open, bySignIn(hidden ?? ''), inherited])
})
