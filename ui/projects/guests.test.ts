import { afterAll, beforeAll, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'

/** Who only visits sites sees nothing of the admin but their own account. contract 17.12. */

const ROOT = 'root@example.com'

let app: TestApp
const projects: string[] = []
beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  for (const repo of ['docs', 'blog']) {
    const files = { 'index.html': repo }
    const site = { owner: 'acme', repo, sha: 'a'.repeat(40), alias: 'production', isPublic: false, files }
    projects.push((await seedDeployment(app, site)).projectId)
  }
})
afterAll(() => app.close())

async function person(
  name: string,
  globalRole: 'member' | 'user',
  ...roles: (string | null)[]
): Promise<string> {
  const email = `${name}@example.com`
  const userId = await app.addUser(email, globalRole)
  for (const [at, role] of roles.entries())
    if (role !== null)
      await app.call('POST', `/api/projects/${projects[at]}/permissions/users`, {
        as: ROOT,
        json: { userId, role },
      })
  return email
}
const open = (path: string, as: string) => app.call('GET', path, { as, headers: { accept: 'text/html' } })

test('a guest is led to their account, which leads nowhere into the admin', async () => {
  const as = await person('guest', 'member', 'guest')
  const home = await open('/', as)
  expect([home.status, home.headers.get('location')]).toEqual([303, '/account'])
  const account = await (await open('/account', as)).text()
  expect(account).not.toContain('>Projects</a>')
  expect(account).toContain('acme/docs')
  for (const [path, status] of [
    [`/projects/${projects[0]}`, 403],
    ['/projects/new', 403],
    ['/keys', 403],
    ['/admin/users', 403],
  ] as const) {
    const answer = await open(path, as)
    expect([path, answer.status, (await answer.text()).includes('>Projects</a>')]).toEqual([
      path,
      status,
      false,
    ])
  }
})

test('others see only where they are viewer or more', async () => {
  const names = async (as: string) => {
    const html = await (await open('/', as)).text()
    return ['acme/docs', 'acme/blog'].filter((name) => html.includes(name))
  }
  expect(await names(await person('viewer', 'member', 'guest', 'viewer'))).toEqual(['acme/blog'])
  expect(await names(await person('user', 'user', 'guest'))).toEqual([])
  expect(await names(ROOT)).toEqual(['acme/docs', 'acme/blog'])
})

test('who becomes viewer of something is no guest any more', async () => {
  const as = await person('later', 'member')
  expect((await open('/', as)).status).toBe(303)
  const userId = app.ctx.db.sqlite
    .query<{ id: string }, []>(`SELECT id FROM users WHERE email = '${as}'`)
    .get()?.id
  await app.call('POST', `/api/projects/${projects[0]}/permissions/users`, {
    as: ROOT,
    json: { userId, role: 'viewer' },
  })
  expect((await open('/', as)).status).toBe(200)
})
