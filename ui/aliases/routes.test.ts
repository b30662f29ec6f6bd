import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

/** What the pages of aliases offer after a rollback, for a new one, and before one is deleted. */
let app: TestApp
let browser: Browser
let old: Seeded

const SITE = { owner: 'acme', repo: 'website', alias: 'production', files: { 'index.html': 'home' } }
const OLD = 'a'.repeat(16)
const NEW = 'b'.repeat(16)

beforeEach(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  old = await seedDeployment(app, { ...SITE, sha: OLD })
})
afterEach(() => app.close())

const at = (rest = '') => `/projects/${old.projectId}/aliases${rest}`
const page = async (path: string, as = ADMIN) => (await browser.open(path, { as })).text()
const count = (html: string, pattern: RegExp) => html.match(pattern)?.length ?? 0

test('after a rollback one returns to the newer deployment, and one row says Now', async () => {
  app.advance(60_000)
  await seedDeployment(app, { ...SITE, sha: NEW })
  const before = await page(at(`/${old.aliasId}`))
  expect([count(before, />Roll back to #1</g), count(before, />Now</g)]).toEqual([1, 1])

  await browser.submit(
    at(`/${old.aliasId}/move`),
    { intent: 'rollback', deploymentId: old.deploymentId },
    { as: ADMIN },
  )
  const after = await page(at(`/${old.aliasId}`))
  expect([count(after, /Roll back to/g), count(after, />Return to #2</g)]).toEqual([0, 1])
  expect(count(after, /aria-label="Move to #2"/g)).toBe(1)
  expect(count(after, />Now</g)).toBe(1)
})

test('the history says why the alias moved, and the page of a way back makes it a rollback', async () => {
  app.advance(60_000)
  await seedDeployment(app, { ...SITE, sha: NEW })
  const asked = await page(at(`/${old.aliasId}/move?to=${old.deploymentId}`))
  expect(asked).toMatch(/name="intent" value="rollback"/)
  app.advance(60_000)
  const done = await browser.submit(
    at(`/${old.aliasId}/move`),
    { intent: 'rollback', deploymentId: old.deploymentId },
    { as: ADMIN },
  )
  expect(done.status).toBe(303)
  const after = await page(at(`/${old.aliasId}`))
  expect([count(after, />Rolled back</g), count(after, />Published</g)]).toEqual([1, 2])
})

test('a new alias starts with the latest deployment', async () => {
  app.advance(60_000)
  await seedDeployment(app, { ...SITE, sha: NEW })
  expect(await page(at())).toMatch(/<input[^>]*name="deployment"[^>]*value="#2"/)
})

test('an alias that was never moved is deleted after a question', async () => {
  expect(await page(at(`/${old.aliasId}`))).not.toContain('name="confirm"')
  const answer = await browser.submit(at(`/${old.aliasId}`), { intent: 'delete' }, { as: ADMIN })
  expect(answer.status).toBe(303)
})

test('one with a history is deleted after a question, too: that can be undone', async () => {
  await seedDeployment(app, { ...SITE, sha: NEW })
  expect(await page(at(`/${old.aliasId}`))).not.toContain('name="confirm"')
  const gone = await browser.submit(at(`/${old.aliasId}`), { intent: 'delete' }, { as: ADMIN })
  expect(gone.status).toBe(303)
  const [cookie = ''] = gone.headers.getSetCookie().filter((text) => text.startsWith('svc_changed='))
  const shown = await browser.open(at('?done=deleted'), {
    headers: { cookie: `${await app.cookieOf(ADMIN)}; ${cookie.split(';')[0]}` },
  })
  const list = await shown.text()
  expect(list).toContain(`${ADMIN} deleted the alias production of acme/website.`)
  expect(shown.headers.getSetCookie().join()).toContain('svc_changed=; ')
  const [, undo = ''] = /action="(\/undo\/[^"]+)"/.exec(list) ?? []
  const back = await browser.submit(undo, { back: at('?done=deleted') }, { as: ADMIN })
  expect([back.status, back.headers.get('location')]).toEqual([303, at()])
  expect((await browser.open(at(`/${old.aliasId}`), { as: ADMIN })).status).toBe(200)
  const twice = await browser.submit(undo, { back: at() }, { as: ADMIN })
  expect([twice.status, (await twice.text()).includes('This was undone already')]).toEqual([409, true])
})

test('a guest has no list of projects, a viewer has one', async () => {
  const guest = await seedMember(app, old.projectId, 'guest')
  const viewer = await seedMember(app, old.projectId, 'viewer')
  const columns = async (as: string) =>
    [...(await page('/?view=list', as)).matchAll(/<th[^>]*>([^<]*)<\/th>/g)].map(([, label]) => label)
  expect(redirectOf(await browser.open('/', { as: guest }))).toEqual([303, '/account'])
  expect(await columns(viewer)).toEqual(['Project', 'Visibility', 'Last deployment', 'Health', 'Site'])
})
