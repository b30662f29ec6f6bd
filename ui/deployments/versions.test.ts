import { afterAll, beforeAll, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

/** A commit of which two versions were published, the first of them live. */
const SHA = 'ab12cd34ef567890'
let app: TestApp
let browser: Browser
let projectId = ''
const ids: string[] = []

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const site = { owner: 'acme', repo: 'album', files: { 'index.html': 'other' } }
  ;({ projectId } = await seedDeployment(app, { ...site, sha: `${SHA}ff` }))
  for (const [content, alias] of [
    ['one', 'live'],
    ['two', ''],
  ] as const) {
    const body = new FormData()
    const description = content === 'one' ? 'First try' : 'Second try\nand more of it'
    const fields = { repository: 'acme/album', commitSha: SHA, alias, description, baseSha: 'fedcba98' }
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    body.append('files', new File([content], 'index.html'))
    const answer = await app.call('POST', '/api/deployments', { as: ADMIN, body })
    ids.push(((await answer.json()) as { deployment: { id: string } }).deployment.id)
  }
})
afterAll(() => app.close())

const read = async (rest: string) =>
  (await browser.open(`/projects/${projectId}${rest}`, { as: ADMIN })).text()

test('the list names each version, and says which has a newer one', async () => {
  const html = await read('/deployments')
  const names = [...html.matchAll(/<bdi>(#[^<]+)</g)].map(([, name]) => name)
  expect(names).toEqual(['#3 Second try', '#2 First try', '#1'])
  expect(html.match(/>Copy commit</g)).toHaveLength(3)
  expect(html.match(/The commit has a newer version/g)).toHaveLength(1)
})

test('the page of a version shows its own address, and the others of its commit alone', async () => {
  const html = await read('/deployments/2')
  expect(html).toContain('<h1>#2 First try</h1>')
  expect(html).toContain('1, and the commit has a newer one')
  expect(html).toContain('2 versions of this commit')
  expect(html.match(/deployments\/3"/g)).toHaveLength(1)
  expect(html).toMatch(/>http:\/\/ab12cd34ef56-v1--album--acme-[0-9a-f]{8}.localhost:3000<\/a>/)
  expect(html).toMatch(
    />http:\/\/ab12cd34ef56--album--acme-[0-9a-f]{8}.localhost:3000<\/a>, which shows its newest/,
  )
  expect(html).toContain('<code>fedcba98</code>, which has other content')
})

test('a commit of one version says nothing of versions', async () => {
  const html = await read('/deployments/1')
  expect(html).toContain(`${SHA}ff`)
  expect(html).not.toContain('versions of this commit')
})

test('the page of an alias says which version it shows', async () => {
  const answer = await app.call('GET', `/api/aliases?projectId=${projectId}`, { as: ADMIN })
  const { data } = (await answer.json()) as { data: { id: string }[] }
  const html = await read(`/aliases/${data[0]?.id}`)
  expect(html).toContain('>#2 First try<')
  expect(await read('/aliases')).toContain('>#2 First try<')
})

test('the address with the id leads to the one with the number, for those who may see it', async () => {
  for (const rest of ['', '/report', '/files?path=index.html']) {
    const answer = await browser.open(`/projects/${projectId}/deployments/${ids[1]}${rest}`, { as: ADMIN })
    expect(redirectOf(answer)).toEqual([302, `/projects/${projectId}/deployments/3${rest}`])
    expect((await browser.open(`/projects/${projectId}/deployments/3${rest}`, { as: ADMIN })).status).toBe(
      200,
    )
  }
  await app.addUser('stranger@example.com', 'user')
  const path = `/projects/${projectId}/deployments/${ids[1]}`
  expect((await browser.open(path, { as: 'stranger@example.com' })).status).toBe(404)
  for (const wrong of ['0', '9', '03', '1e3', '%233', '99999999999', 'x'])
    expect((await browser.open(`/projects/${projectId}/deployments/${wrong}`, { as: ADMIN })).status).toBe(
      404,
    )
})

test('owner and name lead to the pages of the project, for those who may see it', async () => {
  const led = async (path: string, as = ADMIN) => redirectOf(await browser.open(path, { as }))
  expect(await led('/projects/acme/album')).toEqual([302, `/projects/${projectId}`])
  expect(await led('/projects/ACME/Album/deployments/3/files?path=a%2Fb')).toEqual([
    302,
    `/projects/${projectId}/deployments/3/files?path=a%2Fb`,
  ])
  expect(await led('/projects/acme/deployments')).toEqual([404, null])
  expect(await led('/projects/acme/%E0%A4/x')).toEqual([404, null])
  expect(await led('/projects/acme/album', 'stranger@example.com')).toEqual([404, null])
  const posted = await browser.submit(
    '/projects/acme/album/deployments/3',
    { intent: 'delete' },
    { as: ADMIN },
  )
  expect(posted.status).toBe(404)
})
