import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
})
afterAll(() => app.close())

async function read(path: string, as = ADMIN): Promise<string> {
  const answer = await browser.open(path, { as })
  expect(answer.status).toBe(200)
  return answer.text()
}

describe('a deployment without a start page that took the place of one with it', () => {
  const SITE_SHA = 'ab12cd34ef567890'
  const publish = async (sha: string, files: Record<string, string>, alias: string) => {
    app.advance(60_000)
    return seedDeployment(app, { owner: 'acme', repo: 'album', sha, files, alias })
  }
  const warning = /Before, <strong>(\w+)<\/strong> showed the site/
  const button = 'Roll live back to #1'

  test('says so, and leads back with one click, for those who may', async () => {
    const site = await publish(SITE_SHA, { 'index.html': 'Album' }, 'live')
    await publish('11111111aaaaaaaa', { 'photo.jpg': 'x' }, 'live')
    await publish('22222222aaaaaaaa', { 'photo.jpg': 'y' }, 'live')
    const place = `/projects/${site.projectId}/deployments/3`
    const contributor = await seedMember(app, site.projectId, 'contributor')
    const viewer = await seedMember(app, site.projectId, 'viewer')

    const seen = await read(place, viewer)
    expect(seen).toMatch(warning)
    expect(seen).not.toContain(button)
    const html = await read(place, contributor)
    expect(html).toContain(button)

    const alias = `/projects/${site.projectId}/aliases/${site.aliasId}`
    expect(html).toContain(`action="${alias}/move"`)
    const settings = { intent: 'settings', isPublic: '', requiredRole: '', isSpa: '', isLocked: 'true' }
    expect((await browser.submit(alias, settings, { as: ADMIN })).status).toBe(303)
    expect(await read(place, contributor)).toMatch(warning)
    expect(await read(place, contributor)).not.toContain(button)
    expect(await read(place)).toContain(button)

    const sent = { intent: 'move', deploymentId: site.deploymentId }
    const moved = await browser.submit(`${alias}/move`, sent, { as: ADMIN })
    expect(redirectOf(moved)).toEqual([303, `${alias}?done=moved`])
    expect(await read(place)).not.toMatch(warning)
    expect(await read(place)).toContain('There is no index.html at the top level')
  })

  test('says nothing of it where there was none before, or where it is gone', async () => {
    const bare = await publish('33333333aaaaaaaa', { 'photo.jpg': 'x' }, 'bare')
    await publish('44444444aaaaaaaa', { 'index.html': 'x' }, 'emptied')
    await publish('55555555aaaaaaaa', { 'photo.jpg': 'z' }, 'emptied')
    const at = (number: number) => `/projects/${bare.projectId}/deployments/${number}`
    expect(await read(at(6))).toMatch(warning)
    const removed = await browser.submit(at(5), { intent: 'delete' }, { as: ADMIN })
    expect(removed.status).toBe(303)
    for (const number of [4, 6]) {
      const html = await read(at(number))
      expect(html).toContain('There is no index.html at the top level')
      expect(html).not.toMatch(warning)
    }
  })
})
