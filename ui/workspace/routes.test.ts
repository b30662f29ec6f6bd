import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mailApp } from '../../src/testing/mail-app.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let adminId: string

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  adminId = await app.addUser(ADMIN, 'admin')
})
afterAll(() => app.close())

const send = (path: string, fields: Record<string, string>) => browser.submit(path, fields, { as: ADMIN })

async function read(path: string): Promise<string> {
  const answer = await browser.open(path, { as: ADMIN })
  expect(answer.status).toBe(200)
  return answer.text()
}

describe('users', () => {
  test('are created with a link, shown once, that sets the password', async () => {
    const answer = await send('/admin/users', { intent: 'create', email: 'Grace@example.com', role: 'user' })
    const link = (await answer.text()).match(/\/reset-password\?token=[\w-]+/)?.[0] ?? ''
    expect((await browser.open(link)).status).toBe(200)
    const list = await read('/admin/users?q=grace')
    expect(list).toContain('grace@example.com')
    expect(list).not.toContain('token=')
    expect(await read('/admin/users?q=nobody')).toContain('No account has “nobody” in its email.')
    expect(await read('/admin/users?page=9')).toContain('This page of the list is empty.')
  })

  const wrong: [fields: Record<string, string>, status: number, said: string][] = [
    [{ email: 'nobody', role: 'user' }, 400, 'id="email-error"'],
    [{ email: 'x@example.com', role: 'king' }, 400, 'role="alert"'],
    [{ email: ADMIN, role: 'user' }, 409, 'There is already an account for ada@example.com'],
  ]
  test.each(wrong)('%j is refused in place', async (fields, status, said) => {
    const answer = await send('/admin/users', { intent: 'create', ...fields })
    expect([answer.status, (await answer.text()).includes(said)]).toEqual([status, true])
  })

  test('get another role, get a link and are deleted', async () => {
    const id = await app.addUser('linus@example.com', 'member')
    const changed = await send(`/admin/users/${id}`, { intent: 'change', role: 'user' })
    expect(redirectOf(changed)).toEqual([303, `/admin/users/${id}?done=saved`])
    const reset = await send(`/admin/users/${id}`, { intent: 'reset-link' })
    expect(await reset.text()).toMatch(/\/reset-password\?token=[\w-]+/)
    const wrong = await send(`/admin/users/${id}`, { intent: 'delete', confirm: 'linus' })
    expect([wrong.status, (await wrong.text()).includes('Type linus@example.com to confirm.')]).toEqual([
      400,
      true,
    ])
    const gone = await send(`/admin/users/${id}`, { intent: 'delete', confirm: 'linus@example.com' })
    expect(redirectOf(gone)).toEqual([303, '/admin/users?done=deleted'])
    expect((await browser.open(`/admin/users/${id}`, { as: ADMIN })).status).toBe(404)
  })

  test('the last admin cannot be removed', async () => {
    for (const [fields, said] of [
      [{ intent: 'delete', confirm: ADMIN }, 'cannot be deleted'],
      [{ intent: 'change', role: 'user' }, 'cannot be demoted'],
    ] as const) {
      const answer = await send(`/admin/users/${adminId}`, fields)
      expect([answer.status, (await answer.text()).includes(said)]).toEqual([400, true])
    }
  })
})

test('groups are created, filled, renamed, emptied and deleted', async () => {
  const made = await send('/admin/groups', { intent: 'create', name: ' Editors ', description: '' })
  const [status, address] = redirectOf(made)
  expect(status).toBe(303)
  expect(await read(String(address))).toContain('The group was created.')
  const group = String(address).replace(/\?.*/, '')
  const added = await send(group, { intent: 'add', email: ADMIN })
  expect(redirectOf(added)).toEqual([303, `${group}?done=added`])
  for (const [fields, code, said] of [
    [{ intent: 'add', email: 'nobody@example.com' }, 404, 'id="email-error"'],
    [{ intent: 'add', email: ADMIN }, 409, 'is already in the group Editors'],
    [{ intent: 'change', name: ' ' }, 400, 'id="name-error"'],
    [{ intent: 'remove', userId: 'nobody' }, 404, 'That user is not in the group'],
  ] as const) {
    const answer = await send(group, fields)
    expect([answer.status, (await answer.text()).includes(said)]).toEqual([code, true])
  }
  await send(group, { intent: 'change', name: 'Writers', description: 'Who writes' })
  expect(await read('/admin/groups')).toContain('Who writes')
  await send(group, { intent: 'remove', userId: adminId })
  expect(await read(group)).toContain('Nobody is in this group yet')
  expect(redirectOf(await send(group, { intent: 'delete' }))).toEqual([303, '/admin/groups?done=deleted'])
  expect(await read('/admin/groups')).toContain('No groups yet')
})

test('the people of a group are shown 50 a page, and removing one does not leave its page', async () => {
  const [, address] = redirectOf(
    await send('/admin/groups', { intent: 'create', name: 'Many', description: '' }),
  )
  const group = String(address).replace(/\?.*/, '')
  const { sqlite } = app.ctx.db
  for (let i = 0; i <= 50; i++) {
    const userId = `many${i}`
    sqlite.run("INSERT INTO users (id, email, role, created_at, updated_at) VALUES (?, ?, 'member', 0, 0)", [
      userId,
      `${userId}@example.com`,
    ])
    sqlite.run('INSERT INTO group_members VALUES (?, ?, 0)', [group.split('/').at(-1) ?? '', userId])
  }
  const idsIn = (html: string) => [...html.matchAll(/name="userId" value="([^"]+)"/g)].map(([, id]) => id)
  const first = await read(group)
  expect(idsIn(first)).toHaveLength(50)
  expect(first).toContain(`href="${group}?page=2"`)
  const [userId = '', ...rest] = idsIn(await read(`${group}?page=2`))
  expect([userId, rest]).toEqual(['many9', []])
  const removed = await send(`${group}?page=2`, { intent: 'remove', userId })
  expect(redirectOf(removed)).toEqual([303, `${group}?done=removed&page=2`])
  const after = await read(`${group}?done=removed&page=2`)
  expect(idsIn(after)).toEqual(idsIn(first))
  expect(after).not.toContain('aria-label="Pages"')
})

describe('settings', () => {
  const changes: [fields: Record<string, string>, name: string, value: unknown][] = [
    [{ intent: 'membership', requireProjectMembership: 'true' }, 'requireProjectMembership', true],
    [{ intent: 'membership' }, 'requireProjectMembership', false],
    [{ intent: 'registration', allowPublicSignups: 'true' }, 'allowPublicSignups', true],
    [{ intent: 'private-sites', privateSiteResponse: 'login' }, 'privateSiteResponse', 'login'],
  ]
  test.each(changes)('%j is stored', async (fields, name, value) => {
    const answer = await send('/admin/settings/auth', fields)
    expect(redirectOf(answer)).toEqual([303, '/admin/settings/auth?done=saved'])
    const settings = await (await app.call('GET', '/api/settings', { as: ADMIN })).json()
    expect(settings[name]).toEqual({ value, source: 'database' })
  })

  test('a setting from the environment is shown as such, and a form for it is refused', async () => {
    const fixed = await testApp({ FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' })
    await fixed.addUser(ADMIN, 'admin')
    const itsBrowser = browserOf(fixed)
    const html = await (await itsBrowser.open('/admin/settings/auth', { as: ADMIN })).text()
    expect(html).toContain('FEATURE_REQUIRE_PROJECT_MEMBERSHIP')
    expect(html).not.toContain('name="requireProjectMembership"')
    expect(html).toContain('name="allowPublicSignups"')
    const answer = await itsBrowser.submit('/admin/settings/auth', { intent: 'membership' }, { as: ADMIN })
    expect(answer.status).toBe(409)
    fixed.close()
  })
})

describe('the audit log', () => {
  test('shows the values before and after', async () => {
    await send('/admin/settings/auth', { intent: 'registration', allowPublicSignups: 'true' })
    await send('/admin/settings/auth', { intent: 'registration' })
    const html = await read('/admin/audit?action=settings.change')
    expect(html).toMatch(/allowPublicSignups<\/span>\s*<del>true<\/del> → <ins>false<\/ins>/)
    expect(html).not.toContain('>user.create</code>')
  })

  const searches: [query: string, isFound: boolean][] = [
    ['from=2026-11-20&to=2026-11-20', true],
    ['to=2026-11-19', false],
    ['from=2026-11-21', false],
    ['actorId=nobody', false],
  ]
  test.each(searches)('is searched by %s', async (query, isFound) => {
    expect((await read(`/admin/audit?${query}`)).includes('>settings.change</code>')).toBe(isFound)
  })

  test('an invalid search is refused in place', async () => {
    const answer = await browser.open('/admin/audit?from=yesterday', { as: ADMIN })
    expect([answer.status, (await answer.text()).includes('A time in ISO 8601')]).toEqual([400, true])
  })
})

test('health shows what was checked', async () => {
  const html = await read('/admin/health')
  expect(html).toContain('0.0.0-test')
  for (const part of ['Database', 'Storage', 'Disk', 'Backup', 'Webhooks', 'Mail', 'Retention', 'Previews'])
    expect(html).toContain(`>${part}<`)
  expect(html).toContain('Start svc with SMTP_URL')
  const refused = await browser.submit('/admin/health', { intent: 'mail-test', to: '' }, { as: ADMIN })
  expect([refused.status, (await refused.text()).includes('cannot send mail')]).toEqual([409, true])
})

test('the test mail of the health page', async () => {
  const mails = await mailApp()
  await mails.app.addUser(ADMIN, 'admin')
  const page = browserOf(mails.app)
  const submit = (to: string) => page.submit('/admin/health', { intent: 'mail-test', to }, { as: ADMIN })
  expect(redirectOf(await submit(''))).toEqual([303, '/admin/health?done=mailed'])
  expect(redirectOf(await submit('ann@example.com'))).toEqual([303, '/admin/health?done=mailed'])
  expect(mails.smtp.mails.map(({ to }) => to)).toEqual([[ADMIN], ['ann@example.com']])
  const bad = await submit('nobody')
  expect([bad.status, (await bad.text()).includes('aria-invalid="true"')]).toEqual([400, true])
  await mails.close()
})
