import { afterAll, beforeAll, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf } from '../testing/browser.ts'

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
    const fields = { repository: 'acme/album', commitSha: SHA, alias, baseSha: 'fedcba98' }
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
  const names = [...html.matchAll(/>([0-9a-f]{12}@\d+)</g)].map(([, name]) => name)
  expect(names).toEqual(['ab12cd34ef56@2', 'ab12cd34ef56@1', 'ab12cd34ef56@1'])
  expect(html.match(/The commit has a newer version/g)).toHaveLength(1)
})

test('the page of a version shows its own address, and the others of its commit alone', async () => {
  const html = await read(`/deployments/${ids[0]}`)
  expect(html).toContain('<h1>ab12cd34ef56@1</h1>')
  expect(html).toContain('1, and the commit has a newer one')
  expect(html).toContain('2 versions of this commit')
  expect(html.match(new RegExp(`deployments/${ids[1]}"`, 'g'))).toHaveLength(1)
  expect(html).toMatch(/>http:\/\/ab12cd34ef56-v1--album--acme-[0-9a-f]{8}.localhost:3000<\/a>/)
  expect(html).toMatch(
    />http:\/\/ab12cd34ef56--album--acme-[0-9a-f]{8}.localhost:3000<\/a>, which shows its newest/,
  )
  expect(html).toContain('<code>fedcba98</code>, which has other content')
})

test('a commit of one version says nothing of versions', async () => {
  const [, other = ''] =
    (await read('/deployments')).match(
      new RegExp(`deployments/([0-9a-f-]{36})"><code[^>]*Version 1 of ${SHA}ff`),
    ) ?? []
  const html = await read(`/deployments/${other}`)
  expect(html).toContain(`${SHA}ff`)
  expect(html).not.toContain('versions of this commit')
})

test('the page of an alias says which version it shows', async () => {
  const answer = await app.call('GET', `/api/aliases?projectId=${projectId}`, { as: ADMIN })
  const { data } = (await answer.json()) as { data: { id: string }[] }
  const html = await read(`/aliases/${data[0]?.id}`)
  expect(html).toContain('>ab12cd34ef56@1<')
  expect(await read('/aliases')).toContain('>ab12cd34ef56@1<')
})
