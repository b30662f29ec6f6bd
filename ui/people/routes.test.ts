import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

const GRACE = 'grace@example.com'

let app: TestApp
let browser: Browser
let site: Seeded
let graceId: string
let groupId: string
let projectAdmin: string

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  graceId = await app.addUser(GRACE, 'member')
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'website',
    sha: 'c0ffee1234567890',
    isPublic: false,
    files: { 'index.html': 'x' },
  })
  projectAdmin = await seedMember(app, site.projectId, 'admin')
  const group = await app.call('POST', '/api/groups', { as: ADMIN, json: { name: 'Editors' } })
  groupId = (await group.json()).id
})
afterAll(() => app.close())

const at = (rest = '') => `/projects/${site.projectId}/people${rest}`
const send = (rest: string, fields: Record<string, string>, as = projectAdmin) =>
  browser.submit(at(rest), fields, { as })

async function read(path: string, as = projectAdmin): Promise<string> {
  const answer = await browser.open(path, { as })
  expect(answer.status).toBe(200)
  return answer.text()
}

/** What a page preselects in its lists of roles. */
const preselected = (html: string) =>
  [...html.matchAll(/<option (?=[^>]*selected)[^>]*value="(\w+)"[^>]*>([^<]*)/g)].map(([, role, words]) => [
    role,
    words,
  ])

test('the least role is preselected, for people and for groups', async () => {
  const guest = ['guest', 'Guest: sees the private site']
  expect(preselected(await read(at(), ADMIN))).toEqual([guest, guest])
  expect(await read(at())).toContain('Viewer: also sees these pages and all stored data')
})

describe('inviting', () => {
  test('a new email gets a link that is shown once', async () => {
    const answer = await send('', { intent: 'invite', email: 'New@Example.com', role: 'viewer' })
    const html = await answer.text()
    expect(answer.status).toBe(200)
    expect(html).toMatch(/\/invite\?token=[\w-]{20,}/)
    const list = await read(at())
    expect(list).not.toContain('/invite?token=')
    expect(list).toContain('new@example.com')
    const invitationId = list.match(/name="invitationId" value="([^"]+)"/)?.[1] ?? ''
    const revoked = await send('', { intent: 'revoke-invitation', invitationId })
    expect(redirectOf(revoked)).toEqual([303, `${at()}?done=withdrawn`])
    expect(await read(at('?done=withdrawn'))).toContain('The invitation was withdrawn')
    expect(await read(at())).not.toContain('new@example.com')
  })

  test('an existing account gets the role immediately', async () => {
    const answer = await send('', { intent: 'invite', email: GRACE, role: 'viewer' })
    const html = await answer.text()
    expect(html).toContain(`${GRACE} has access`)
    expect(html).toContain('it has the role viewer now')
    expect(await read(`/projects/${site.projectId}`, GRACE)).toContain('Your role: Viewer')
  })

  const wrong: [what: string, fields: Record<string, string>, said: string][] = [
    ['no email', { email: 'nobody', role: 'viewer' }, 'id="email-error"'],
    ['the role owner', { email: 'x@example.com', role: 'owner' }, 'Nobody can be invited as owner'],
    ['an unknown role', { email: 'x@example.com', role: 'king' }, 'id="role-error"'],
  ]
  test.each(wrong)('%s is refused in place', async (_what, fields, said) => {
    const answer = await send('', { intent: 'invite', ...fields })
    expect(answer.status).toBe(400)
    const html = await answer.text()
    expect(html).toContain(said)
    expect(html).toContain(`value="${fields['email']}"`)
  })
})

describe('long lists', () => {
  const idsIn = (html: string) =>
    [...html.matchAll(/name="invitationId" value="([^"]+)"/g)].map(([, id]) => id)
  const emailsIn = (html: string) => new Set(html.match(/many\d+@example\.com/g))

  test('invitations are shown 50 a page, and withdrawing one does not leave its page', async () => {
    app.ctx.db.sqlite.run('DELETE FROM invitations')
    for (let i = 0; i <= 50; i++)
      await app.call('POST', `/api/projects/${site.projectId}/invitations`, {
        as: ADMIN,
        json: { email: `guest${i}@example.com`, role: 'guest' },
      })
    const first = await read(at())
    expect(idsIn(first)).toHaveLength(50)
    expect(first).toContain('?page=1&amp;invitations=2#invitations"')
    const beyond = await read(at('?invitations=2'))
    const [invitationId = '', ...rest] = idsIn(beyond)
    expect(rest).toEqual([])
    expect(idsIn(first)).not.toContain(invitationId)
    const revoked = await send('?page=1&invitations=2', { intent: 'revoke-invitation', invitationId })
    expect(redirectOf(revoked)).toEqual([303, at('?done=withdrawn&page=1&invitations=2')])
    expect(idsIn(await read(at('?done=withdrawn&page=1&invitations=2')))).toEqual(idsIn(first))
    expect(idsIn(await read(at('?invitations=1e30')))).toEqual(idsIn(first))
  })

  test('people are shown 50 a page', async () => {
    const { sqlite } = app.ctx.db
    for (let i = 0; i < 60; i++) {
      sqlite.run(
        "INSERT INTO users (id, email, password_hash, role, totp_secret, created_at, updated_at) VALUES (?, ?, NULL, 'member', NULL, 0, 0)",
        [`u${i}`, `many${i}@example.com`],
      )
      sqlite.run('INSERT INTO memberships VALUES (?, ?, 0)', [site.projectId, `u${i}`])
    }
    const [first, second] = [await read(at()), await read(at('?page=2'))]
    expect(first).toContain('?page=2&amp;invitations=1"')
    const shown = [...emailsIn(first), ...emailsIn(second)]
    expect([shown.length, new Set(shown).size]).toEqual([60, 60])
    expect(emailsIn(second).size).toBeGreaterThan(5)
    expect(await read(at('?page=1000'))).toContain('Page 2 of 2')
  })
})

describe('groups', () => {
  test('get a role and lose it', async () => {
    const granted = await send('', { intent: 'grant-group', groupId, role: 'contributor' })
    expect(redirectOf(granted)).toEqual([303, `${at()}?done=granted`])
    expect(await read(at())).toContain('Remove Editors')
    const gone = await send('', { intent: 'revoke-group', groupId })
    expect(redirectOf(gone)).toEqual([303, `${at()}?done=revoked`])
    app.advance(5000)
    const again = await send('', { intent: 'revoke-group', groupId })
    expect([again.status, (await again.text()).includes('That group has no role on the project')]).toEqual([
      404,
      true,
    ])
  })

  test('are listed for administrators of the workspace only', async () => {
    expect(await read(at(), ADMIN)).toContain(`<option value="${groupId}"`)
    expect(await read(at())).not.toContain(groupId)
  })
})

/** In the table of allowed actions. */
const MAY_PUBLISH = /<li>Publish<\/li>((?!>No<).)*>Yes</s

describe('one person', () => {
  test('is explained, and changed', async () => {
    const person = at(`/${graceId}`)
    expect(await read(person)).toContain('Their own role on this project')
    expect(await read(person)).not.toMatch(MAY_PUBLISH)
    const granted = await send(`/${graceId}`, { intent: 'grant', role: 'contributor' })
    expect(redirectOf(granted)).toEqual([303, `${person}?done=granted`])
    expect(await read(person)).toMatch(MAY_PUBLISH)
    const revoked = await send(`/${graceId}`, { intent: 'revoke' })
    expect(redirectOf(revoked)).toEqual([303, `${person}?done=revoked`])
    const removed = await send(`/${graceId}`, { intent: 'remove' })
    expect(redirectOf(removed)).toEqual([303, `${at()}?done=removed`])
    expect((await browser.open(`/projects/${site.projectId}`, { as: GRACE })).status).toBe(404)
  })

  test('the owner of the project cannot be changed', async () => {
    const people = await app.call('GET', `/api/projects/${site.projectId}/permissions`, { as: ADMIN })
    const { users } = await people.json()
    const owner: { userId: string } = users.find(({ role }: { role: string }) => role === 'owner')
    expect(await read(at(`/${owner.userId}`))).not.toContain('Change the role')
    const answer = await send(`/${owner.userId}`, { intent: 'remove' })
    expect([answer.status, (await answer.text()).includes('transfer the ownership first')]).toEqual([
      400,
      true,
    ])
  })

  test('is not found for viewers who share no project with them', async () => {
    const viewer = await seedMember(app, site.projectId, 'viewer')
    const strangerId = await app.addUser('stranger@example.com', 'member')
    expect((await browser.open(at(`/${strangerId}`), { as: viewer })).status).toBe(404)
    expect((await browser.open(at(`/${strangerId}`), { as: projectAdmin })).status).toBe(200)
  })
})
