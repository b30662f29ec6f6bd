import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let site: Seeded
let admin: string

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const seed = (repo: string) =>
    seedDeployment(app, {
      ...{ owner: 'acme', repo, sha: 'a'.repeat(40), alias: 'production' },
      files: { 'index.html': repo },
    })
  site = await seed('shop')
  const other = await seed('handbook')
  admin = await seedMember(app, site.projectId, 'admin')
  for (const { projectId } of [site, other])
    await app.call('PATCH', `/api/projects/${projectId}`, { as: ADMIN, json: { displayName: '<i>New' } })
})
afterAll(() => app.close())

const href = () => `/projects/${site.projectId}/audit`
const read = async (query = '') => (await browser.open(href() + query, { as: admin })).text()

test('an admin of the project sees its changes alone, and who made them', async () => {
  const html = await read()
  expect(html).toContain('<h1>Audit log</h1>')
  expect(html).toContain(`${ADMIN} changed the settings of acme/shop`)
  expect(html).toContain('&lt;i>New')
  expect(html).not.toContain('handbook')
  expect(html).toContain(`>${ADMIN}</option>`)
  expect(html).not.toContain('>Project</label>')
  expect(html).toContain('href="/docs/admin#audit-log"')
})

test('the filters are those of the whole log', async () => {
  expect(await read('?group=settings')).toContain('changed the settings of acme/shop')
  expect(await read('?group=backups')).toContain('Nothing found')
  const other = app.ctx.newId()
  expect(await read(`?projectId=${other}`)).toContain('changed the settings of acme/shop')
  for (const query of ['?group=%3Cb%3E', '?from=never']) {
    const wrong = await browser.open(href() + query, { as: admin })
    expect(wrong.status).toBe(400)
  }
})

test('its button undoes the change and leads back, with the same filter', async () => {
  const html = await read('?group=settings')
  expect(html).toContain(`aria-label="Undo: ${ADMIN} changed the settings of acme/shop"`)
  const action = /action="(\/undo\/[^"]+)"/.exec(html)?.[1] ?? ''
  const back = `${href()}?group=settings&page=1`
  expect(html).toContain(`name="back" value="${back.replaceAll('&', '&amp;')}"`)
  const answer = await browser.submit(action, { back }, { as: admin })
  expect(redirectOf(answer)).toEqual([303, back])
  const after = await read('?group=settings')
  expect(after).toContain(`${admin} undid`)
  expect(after).toContain('>undone</span>')
})
