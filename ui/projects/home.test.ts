import { afterAll, beforeAll, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let [viewer, contributor] = ['', '']

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const { projectId } = await publish('a')
  viewer = await seedMember(app, projectId, 'viewer')
  contributor = await seedMember(app, projectId, 'contributor')
})
afterAll(() => app.close())

function publish(digit: string) {
  app.advance(1000)
  const site = { owner: 'acme', repo: 'shop', alias: 'production', files: { 'index.html': digit } }
  return seedDeployment(app, { ...site, sha: digit.repeat(40) })
}

const home = async (as: string, view = 'cards') => (await browser.open(`/?view=${view}`, { as })).text()

test('two clicks from home lead back to what production showed before', async () => {
  expect(await home(contributor)).not.toContain('Roll back')
  await publish('b')
  for (const view of ['cards', 'list']) {
    const html = await home(contributor, view)
    expect(html).toMatch(/<button[^>]*>Roll back shop<\/button>/)
    expect(html).toMatch(/<h2[^>]*>Roll back shop<\/h2>/)
    expect(html).toMatch(/<button[^>]*>Roll back to #1<\/button>/)
    expect(await home(viewer, view)).not.toContain('Roll back')
  }
  const html = await home(contributor)
  const action = /action="([^"]*\/move)"/.exec(html)?.[1] ?? ''
  const deploymentId = /name="deploymentId" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const answer = await browser.submit(action, { intent: 'rollback', deploymentId }, { as: contributor })
  expect(redirectOf(answer)[0]).toBe(303)
  const shown = await app.call('GET', '/', { host: 'production--shop--acme.localhost', as: contributor })
  expect(await shown.text()).toBe('a')
  expect(await home(contributor)).not.toContain('Roll back shop')
})
