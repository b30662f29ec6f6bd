import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { zip } from '../../src/platform/archive/zip.fixture.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, browserOf, redirectOf } from '../testing/browser.ts'
import { ownerFor } from './new-project.ts'

const USER = 'grace@example.com'

const owners: [email: string, owner: string][] = [
  ['ada@example.com', 'ada'],
  ['ada.l_x-1@example.com', 'ada.l_x-1'],
  ['ada+svc@example.com', 'ada-svc'],
  ['"a b"@example.com', 'a-b'],
  ['„ö“@example.com', ''],
  ['..@example.com', ''],
  [`${'a'.repeat(101)}@example.com`, ''],
  ['0192f0c1-2d3e-7a4b-8c5d-6e7f8a9b0c1d@example.com', ''],
]
test.each(owners)('a new project of %p gets the owner %p', (email, owner) =>
  expect(ownerFor(email)).toBe(owner),
)

test('a new project has an owner filled in, and the form says what the names are for', async () => {
  const app = await testApp()
  const browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  await app.addUser(USER, 'user')
  const html = await (await browser.open('/projects/new', { as: USER })).text()
  expect(html).toMatch(/<input id="owner"[^>]* value="grace"/)
  expect(html).toContain('production--NAME--OWNER')
  const emptied = { intent: 'create-project', owner: '', repo: 'x' }
  const refused = await (await browser.submit('/projects/new', emptied, { as: USER })).text()
  expect(refused).toContain('id="owner-error"')
  expect(refused).not.toContain('value="grace"')
  app.close()
})

describe('publishing to a project that the form makes', () => {
  let app: TestApp
  let address = ''
  beforeAll(async () => {
    app = await testApp()
    await app.addUser(ADMIN, 'admin')
    await app.addUser(USER, 'user')
    await app.addUser('member@example.com', 'member')
    const html = await (await browserOf(app).open('/projects/new', { as: USER })).text()
    address = /action="(\/projects\/new\?[^"]+)"/.exec(html)?.[1] ?? ''
  })
  afterAll(() => app.close())

  const send = (as: string, path = address, content = 'hello') => {
    const body = new FormData()
    for (const [name, value] of Object.entries({ owner: 'grace', repo: 'notes', isPublic: 'true' }))
      body.append(name, value)
    body.append('alias', 'production')
    body.append('file', new Blob([Uint8Array.from(zip({ 'index.html': content }))]), 'site.zip')
    const headers = { accept: 'text/html', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }
    return app.call('POST', path, { as, body, headers })
  }
  const names = () =>
    app.ctx.db.sqlite
      .query<{ name: string }, []>('SELECT name FROM projects')
      .all()
      .map(({ name }) => name)

  test('abuse: members make none', async () => {
    expect((await send('member@example.com')).status).toBe(403)
    expect(names()).toEqual([])
  })

  test('it is made with its first deployment, and a second click is the first one', async () => {
    const [first, second] = [redirectOf(await send(USER)), redirectOf(await send(USER))]
    expect(first).toEqual([303, expect.stringMatching(/^\/projects\/[0-9a-f-]+\/publish\?published=/)])
    expect(second).toEqual(first)
    expect(names()).toEqual(['notes'])
    const shown = await app.call('GET', '/', { host: 'production--notes--grace.localhost' })
    expect(await shown.text()).toBe('hello')
  })

  test('abuse: another form does not publish to it, whoever sends it', async () => {
    const other = `/projects/new?commitSha=${'b'.repeat(40)}`
    expect((await send(USER, other, 'else')).status).toBe(409)
    await app.addUser('eve@example.com', 'user')
    for (const path of [other, address])
      expect((await send('eve@example.com', path, 'else')).status).not.toBe(303)
    const shown = await app.call('GET', '/', { host: 'production--notes--grace.localhost' })
    expect(await shown.text()).toBe('hello')
  })
})
