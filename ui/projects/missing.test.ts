import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type RulesApp, rulesApp } from '../rules/testing.ts'
import { ADMIN } from '../testing/browser.ts'

let project: RulesApp
let at = ''
beforeAll(async () => {
  project = await rulesApp()
  at = `/projects/${project.site.projectId}/analytics`
  const host = project.site.aliasHost ?? ''
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }
  for (const path of ['/old%20page.png', '/old%20page.png', '/%3Cb%3E.png'])
    await project.app.call('GET', path, { host, headers })
})
afterAll(() => project.app.close())
beforeEach(() => project.clear())

const send = (target: string, path = '/old page.png') =>
  project.browser.submit(at, { intent: 'redirect', path, target }, { as: ADMIN })
const rules = async () =>
  (await project.json('GET', `/api/proxy-rules/project/${project.site.projectId}`)).rules

test('a missing page becomes a redirect, once however often it is sent', async () => {
  expect(await project.read(at)).toContain('/old page.png')
  const answers = await Promise.all([send('/'), send('/'), send('/')])
  for (const answer of answers)
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('done=redirected'),
    ])
  expect((await send(' / ')).status).toBe(303)
  expect(await rules()).toMatchObject([
    { proxyType: 'redirect', pathPattern: '/old%20page.png', targetUrl: '/', status: 301, aliasId: null },
  ])
  const page = await project.app.call('GET', '/old%20page.png', { host: project.site.aliasHost ?? '' })
  expect([page.status, page.headers.get('location')]).toEqual([301, '/'])
  expect(await project.read(at)).not.toContain('/old page.png')
})

test('to another target it is refused, and so is what is no target', async () => {
  await send('/')
  const other = await send('/elsewhere')
  expect([other.status, await other.text()]).toEqual([409, expect.stringContaining('change it under Rules')])
  const wrong = await send('javascript:alert(1)', '/<b>.png')
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('must begin with')])
  expect(await rules()).toHaveLength(1)
})

test('paths are shown escaped; whoever is no admin sees nothing', async () => {
  const html = await project.read(at)
  expect(html).toContain('&lt;b>.png')
  expect(html).not.toContain('<b>.png')
  const refused = await project.browser.submit(
    at,
    { intent: 'redirect', path: '/x', target: '/' },
    { as: project.contributor },
  )
  expect([refused.status, await rules()]).toEqual([403, []])
})
