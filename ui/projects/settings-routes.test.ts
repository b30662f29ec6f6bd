import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOperatorKey } from '../../src/modules/api-keys/service.ts'
import { openSecret } from '../../src/modules/secrets/service.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let site: Seeded
let projectAdmin: string
let contributor: string

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'website',
    sha: 'c0ffee1234567890',
    isPublic: false,
    files: { 'index.html': 'x' },
  })
  projectAdmin = await seedMember(app, site.projectId, 'admin')
  contributor = await seedMember(app, site.projectId, 'contributor')
})
afterAll(() => app.close())

const at = (rest: string) => `/projects/${site.projectId}${rest}`
const send = (rest: string, fields: Record<string, string>, as = projectAdmin) =>
  browser.submit(at(rest), fields, { as })
const record = async () => (await app.call('GET', `/api/projects/${site.projectId}`, { as: ADMIN })).json()

async function read(path: string, as = projectAdmin): Promise<string> {
  const answer = await browser.open(path, { as })
  expect(answer.status).toBe(200)
  return answer.text()
}

const changes: [fields: Record<string, string>, expected: object][] = [
  [
    { intent: 'general', displayName: ' Acme ', isSpa: 'true' },
    { displayName: 'Acme', isSpa: true },
  ],
  [{ intent: 'general', displayName: 'Acme', isSpa: '' }, { isSpa: null }],
  [{ intent: 'general', displayName: 'Acme', isSpa: '', previewDays: '30' }, { previewDays: 30 }],
  [
    { intent: 'visibility', isPublic: 'true', requiredRole: 'viewer', privateSiteResponse: 'login' },
    { isPublic: true, requiredRole: 'viewer', privateSiteResponse: 'login' },
  ],
  [
    { intent: 'visibility', isPublic: 'false', requiredRole: 'guest', privateSiteResponse: '' },
    { isPublic: false, requiredRole: 'guest', privateSiteResponse: null },
  ],
  [
    { intent: 'addresses', htmlHandling: 'none', indexing: 'all' },
    { htmlHandling: 'none', indexing: 'all' },
  ],
  [
    { intent: 'addresses', htmlHandling: '', indexing: 'production' },
    { htmlHandling: null, indexing: 'production' },
  ],
  [{ intent: 'signup', allowPublicSignup: 'true' }, { allowPublicSignup: true }],
  [{ intent: 'signup' }, { allowPublicSignup: false }],
]

test.each(changes)('the settings %j are stored', async (fields, expected) => {
  expect(redirectOf(await send('/settings', fields))).toEqual([303, `${at('/settings')}?done=saved`])
  expect(await record()).toMatchObject(expected)
})

const refusals: [what: string, fields: Record<string, string>, status: number, said: string][] = [
  ['an empty name', { intent: 'general', displayName: ' ' }, 400, 'id="displayName-error"'],
  ['no such role', { intent: 'visibility', isPublic: 'true', requiredRole: 'king' }, 400, 'role="alert"'],
  ['the owner’s things', { intent: 'delete', confirm: 'acme/website' }, 403, 'Not allowed'],
  ['giving away what is not one’s own', { intent: 'transfer', confirm: 'acme/website' }, 403, 'Not allowed'],
  ['no intent', {}, 400, 'does not say what to do'],
  ['a name of every object', { intent: 'constructor' }, 400, 'does not say what to do'],
]

test.each(refusals)('%s is refused', async (_what, fields, status, said) => {
  const answer = await send('/settings', fields)
  expect([answer.status, (await answer.text()).includes(said)]).toEqual([status, true])
})

test('admins of the project see no danger zone', async () => {
  const html = await read(at('/settings'))
  expect(html).not.toContain('Delete the project')
  expect(html).not.toContain('Transfer the ownership')
})

test('the ownership is transferred when the name is typed', async () => {
  const fields = { intent: 'transfer', email: contributor }
  const untyped = await send('/settings', { ...fields, confirm: 'website' }, ADMIN)
  expect([untyped.status, (await untyped.text()).includes('Type acme/website to confirm')]).toEqual([
    400,
    true,
  ])
  const stranger = await send(
    '/settings',
    { intent: 'transfer', email: ADMIN, confirm: 'acme/website' },
    ADMIN,
  )
  expect([stranger.status, (await stranger.text()).includes('has no role on the project')]).toEqual([
    400,
    true,
  ])
  const nobody = { intent: 'transfer', email: 'nobody@example.com', confirm: 'acme/website' }
  const unknown = await send('/settings', nobody, ADMIN)
  expect([unknown.status, (await unknown.text()).includes('Invite them under People first.')]).toEqual([
    400,
    true,
  ])
  const done = await send('/settings', { ...fields, confirm: 'acme/website' }, ADMIN)
  expect(redirectOf(done)).toEqual([303, `${at('/settings')}?done=transferred`])
  expect(await read(at('/settings'), contributor)).toContain('Delete the project')
})

describe('secrets', () => {
  test('can be stored but not read', async () => {
    const put = await send('/secrets', { intent: 'put', name: 'MAIL_KEY', value: 'top\r\nsecret' })
    expect(redirectOf(put)).toEqual([303, `${at('/secrets')}?done=stored`])
    expect(openSecret(app.ctx, site.projectId, 'MAIL_KEY')).toBe('top\nsecret')
    const html = await read(at('/secrets'))
    expect(html).toContain('MAIL_KEY')
    expect(html).not.toContain('secret</textarea>')
  })

  test('a refused one is not shown again', async () => {
    const answer = await send('/secrets', { intent: 'put', name: '1 bad', value: 'hunter2' })
    const html = await answer.text()
    expect(answer.status).toBe(400)
    expect(html).toContain('value="1 bad"')
    expect(html).toContain('id="name-error"')
    expect(html).not.toContain('hunter2')
  })

  test('one of the maximum length fits the form', async () => {
    const value = 'é\n'.repeat(21_845)
    expect((await send('/secrets', { intent: 'put', name: 'LONG', value })).status).toBe(303)
    expect((await send('/secrets', { intent: 'put', name: 'LONG', value: `${value}ab` })).status).toBe(400)
    expect((await send('/secrets', { intent: 'delete', name: 'LONG' })).status).toBe(303)
  })

  test('say who can read them, and who may use each', async () => {
    const html = await read(at('/secrets'))
    expect(html).toContain(
      'Whoever may change this project’s rules can read a secret that contributors may use',
    )
    await send('/secrets', { intent: 'put', name: 'PAY_KEY', value: 'x', usableBy: 'admin' })
    expect(await read(at('/secrets'))).toMatch(/PAY_KEY<\/code>.*Admins/s)
    await send('/secrets', { intent: 'put', name: 'PAY_KEY', value: 'y', usableBy: '' })
    expect(await read(at('/secrets'), contributor)).toMatch(/PAY_KEY<\/code>.*Admins/s)
    const wrong = await send('/secrets', { intent: 'put', name: 'PAY_KEY', value: 'z', usableBy: 'guest' })
    expect(wrong.status).toBe(400)
    expect(openSecret(app.ctx, site.projectId, 'PAY_KEY')).toBe('y')
  })

  test('kept for admins, the page names the rules that were switched off', async () => {
    await send('/secrets', { intent: 'put', name: 'OPEN_KEY', value: 'x' })
    const config = { body: '{{secrets.OPEN_KEY}}' }
    const json = {
      pathPattern: '/api/open',
      proxyType: 'pipeline',
      pipelineConfig: { steps: [{ id: 'r', handlerType: 'response_handler', config }] },
    }
    const path = `/api/proxy-rules/project/${site.projectId}`
    const key = createOperatorKey(app.ctx, { name: 'ci', repository: null })
    const rule = (await (await app.call('POST', path, { key, json })).json()) as { id: string }
    const put = await send('/secrets', { intent: 'put', name: 'OPEN_KEY', value: 'x', usableBy: 'admin' })
    expect(put.status).toBe(200)
    expect(await put.text()).toMatch(new RegExp(`${rule.id}[^>]*>ANY /api/open</a>`))
    const off = await app.call('GET', `/api/proxy-rules/${rule.id}`, { key })
    expect(await off.json()).toMatchObject({ isEnabled: false })
  })

  test('are deleted', async () => {
    expect((await send('/secrets', { intent: 'delete', name: 'MAIL_KEY' })).status).toBe(303)
    app.advance(5000)
    expect((await send('/secrets', { intent: 'delete', name: 'MAIL_KEY' })).status).toBe(404)
  })
})

test('the project is deleted when its name is typed', async () => {
  const untyped = await send('/settings', { intent: 'delete', confirm: '' }, ADMIN)
  expect([untyped.status, (await record()).id]).toEqual([400, site.projectId])
  const done = await send('/settings', { intent: 'delete', confirm: 'ACME/website' }, ADMIN)
  expect(redirectOf(done)).toEqual([303, '/?done=deleted'])
  expect((await browser.open(at(''), { as: ADMIN })).status).toBe(404)
})
