import { afterEach, beforeEach, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'

const ROOT = 'root@example.com'
let app: TestApp
let projectId: string

const open = async (env: Record<string, string> = {}) => {
  app = await testApp({ RETENTION_GRACE_MINUTES: '0', ...env })
  await app.addUser(ROOT, 'admin')
  for (let i = 0; i < 3; i++) {
    app.advance(1000)
    const seed = { owner: 'acme', repo: 'docs', sha: String(i).repeat(40), files: { 'index.html': `${i}` } }
    projectId = (await seedDeployment(app, seed)).projectId
  }
}
beforeEach(() => open())
afterEach(() => app.close())

const path = () => `/projects/${projectId}/retention`
const read = async (at: string) =>
  (await (await app.call('GET', at, { as: ROOT })).text()).replaceAll('\u00a0', ' ')
const get = (query = '') => read(`${path()}${query}`)
const post = (fields: Record<string, string>, as = ROOT) =>
  app.call('POST', path(), {
    as,
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' },
    body: new URLSearchParams(fields).toString(),
  })

test('rules are tried out without scripts, saved, and run', async () => {
  expect(await get()).toContain('Would remove nothing.')
  const tried = await post({ intent: 'try', keepLast: '1', keepDays: '' })
  expect(tried.headers.get('location')).toBe(`${path()}?keepLast=1&keepDays=0#would-remove`)
  const shown = await get('?keepLast=1&keepDays=0')
  expect(shown).toContain('Would remove 2 deployments, 2 B come back.')
  expect(shown).toContain('111111111111')
  expect((await post({ intent: 'save', keepLast: '1', keepDays: '' })).headers.get('location')).toBe(
    `${path()}?done=saved`,
  )
  expect(await get()).toContain('Would remove 2 deployments')
  expect((await post({ intent: 'run' })).headers.get('location')).toBe(`${path()}?done=run`)
  expect(await get()).toContain('Would remove nothing.')
})

test('a wrong rule is marked, and nothing is saved', async () => {
  const answer = await post({ intent: 'save', keepLast: '0', keepDays: '7' })
  expect(answer.status).toBe(400)
  const text = await answer.text()
  expect(text).toContain('A whole number of deployments from 1 to 10000')
  expect(text).toContain('value="0"')
  expect(await get()).toContain('Would remove nothing.')
})

test('a global admin sets the quota, which the project and the storage show', async () => {
  expect((await post({ intent: 'quota', bytes: '2000', deployments: '', files: '' })).status).toBe(303)
  expect(await get()).toContain('of 2.0 KB')
  expect(await read(`/projects/${projectId}`)).toContain('of 2.0 KB')
  expect(await read('/admin/storage')).toContain('2.0 KB</a>')
})

test('an admin of the project cannot set it, and a viewer only looks', async () => {
  for (const [email, role] of [
    ['adam@example.com', 'admin'],
    ['vera@example.com', 'viewer'],
  ] as const) {
    const userId = await app.addUser(email)
    await app.call('POST', `/api/projects/${projectId}/permissions/users`, {
      as: ROOT,
      json: { userId, role },
    })
  }
  expect((await post({ intent: 'quota', bytes: '1' }, 'adam@example.com')).status).toBe(403)
  expect((await post({ intent: 'run' }, 'vera@example.com')).status).toBe(403)
  const seen = await (await app.call('GET', path(), { as: 'vera@example.com' })).text()
  expect(seen).toContain('No rule is set')
  expect(seen).not.toContain('Would remove')
})

test('a banner is on each page of the admin while the disk is low', async () => {
  const banner = 'The disk of this server is nearly full'
  expect(await get()).not.toContain(banner)
  app.close()
  await open({ MIN_FREE_DISK: '1000t' })
  for (const at of [path(), '/', '/account', '/admin/users', '/no-such-page'])
    expect([
      at,
      await (await app.call('GET', at, { as: ROOT, headers: { accept: 'text/html' } })).text(),
    ]).toEqual([at, expect.stringContaining(banner)])
  expect(await (await app.call('GET', '/signin')).text()).not.toContain(banner)
})
