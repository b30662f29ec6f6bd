import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { zip } from '../src/platform/archive/zip.fixture.ts'
import { ask } from '../src/testing/ask.ts'
import { seedDeployment } from '../src/testing/seed.ts'
import { seedMember } from '../src/testing/seed-people.ts'
import { type CallOptions, type TestApp, testApp } from '../src/testing/test-app.ts'
import { PAGE_ID } from './components/html.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from './testing/browser.ts'
import { GRACE, MAKING, SHA, TAKING_AWAY } from './testing/double-click.ts'

const CONTRIBUTOR = { as: 'contributor@example.com' }

let app: TestApp
let browser: Browser
/** The ids for `:name` in paths and fields of the table. */
let ids: Record<string, string>

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const userId = await app.addUser(GRACE, 'admin')
  const site = { owner: 'acme', repo: 'website', alias: 'production', files: { 'index.html': 'x' } }
  const { projectId: id, deploymentId, aliasId } = await seedDeployment(app, { ...site, sha: SHA })
  await seedMember(app, id, 'contributor')
  const make = async (path: string, json: unknown) =>
    String((await ask(app, 'POST', path, { as: ADMIN, json })).body['id'])
  const domain = { projectId: id, hostname: 'www.example.com', alias: 'production' }
  const schema = { projectId: id, name: 'messages', fields: [{ name: 'text', type: 'string' }] }
  const schemaId = await make('/api/schemas', schema)
  const other = await seedDeployment(app, { ...site, sha: 'b0ba1234567890', alias: 'old' })
  ids = {
    ...{ id, deploymentId, userId, schemaId, aliasId: aliasId ?? '', oldAliasId: other.aliasId ?? '' },
    oldDeploymentId: other.deploymentId,
    groupId: await make('/api/groups', { name: 'Writers' }),
    oldGroupId: await make('/api/groups', { name: 'Readers' }),
    domainId: await make('/api/domains', domain),
    oldDomainId: await make('/api/domains', { ...domain, hostname: 'old.example.com' }),
    recordId: await make(`/api/schemas/${schemaId}/records`, { text: 'Old' }),
    oldSchemaId: await make('/api/schemas', { ...schema, name: 'olds' }),
    ruleId: await make(`/api/proxy-rules/project/${id}`, REWRITE),
    keyId: keyIdOf(
      await ask(app, 'POST', '/api/api-keys', { as: ADMIN, json: { name: 'old', isGlobal: true } }),
    ),
    oldUserId: await app.addUser('old@example.com'),
    oldProjectId: await make('/api/projects', { owner: 'acme', name: 'old' }),
    invitationId: await make(`/api/projects/${id}/invitations`, { email: 'o@example.com', role: 'viewer' }),
  }
})
// No responses are kept from one test to the next.
beforeEach(() => app.advance(5000))
afterAll(() => app.close())

const REWRITE = { pathPattern: '/old/*', proxyType: 'internal_rewrite', targetUrl: '/index.html' }

const keyIdOf = ({ body }: { body: Record<string, unknown> }) => String(Object(body['apiKey']).id)

const filled = (text: string) => text.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '')

function send(path: string, fields: Record<string, string>, options: CallOptions = { as: ADMIN }) {
  const values = Object.entries(fields).map(([name, value]) => [name, filled(value)])
  return browser.submit(filled(path), { [PAGE_ID]: 'one', ...Object.fromEntries(values) }, options)
}

const shownBy = async (answer: Response) => [
  answer.status,
  answer.headers.get('location'),
  await answer.text(),
]

function countOf(thing: string): number {
  const query = thing.includes('.')
    ? app.ctx.db.sqlite.query('SELECT count(*) AS count FROM audit_log WHERE action = ?').get(thing)
    : app.ctx.db.sqlite.query(`SELECT count(*) AS count FROM ${thing}`).get()
  return Number(Object(query).count)
}

describe('two clicks before the first response and one after it create or delete one thing', () => {
  test.each([...MAKING, ...TAKING_AWAY])('%s: %s %j', async (_what, path, fields, thing) => {
    const before = countOf(thing)
    const both = await Promise.all([send(path, fields), send(path, fields)])
    const [first = [], ...others] = await Promise.all([...both, await send(path, fields)].map(shownBy))
    expect(first[0]).toBeOneOf([200, 303])
    expect(others).toEqual([first, first])
    expect(countOf(thing)).toBe(before + 1)
  })

  test('a deployment, because both clicks name the same commit', async () => {
    const before = countOf('deployments')
    const publish = () => {
      const body = new FormData()
      body.set('file', new File([Uint8Array.from(zip({ 'index.html': 'New' }))], 'site.zip'))
      const path = filled(`/projects/:id/publish?repository=acme/website&commitSha=${'d'.repeat(40)}`)
      const headers = { accept: 'text/html', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }
      return app.call('POST', path, { as: ADMIN, body, headers })
    }
    const [first = [], ...others] = [...(await Promise.all([publish(), publish()])), await publish()].map(
      redirectOf,
    )
    expect(String(first)).toContain('/publish?published=')
    expect(others).toEqual([first, first])
    expect(countOf('deployments')).toBe(before + 1)
  })

  test('saving a record twice does not report a change by somebody else', async () => {
    const json = { text: 'Hello' }
    const { body } = await ask(app, 'POST', filled('/api/schemas/:schemaId/records'), { as: ADMIN, json })
    const path = filled(`/projects/:id/data/:schemaId/${body['id']}`)
    const form = {
      [PAGE_ID]: 'one',
      intent: 'save',
      updatedAt: String(body['updatedAt']),
      'field.text': 'Hello again',
    }
    app.advance(1000)
    const save = () => browser.submit(path, form, { as: ADMIN })
    const answers = [await save(), await save()]
    expect(answers.map(redirectOf)).toEqual(answers.map(() => [303, `${path}?done=saved`]))
  })
})

const RECORD = '/projects/:id/data/:schemaId/new'
const GREETING = { intent: 'create', 'field.text': 'Hello' }

async function madeBy(click: () => Promise<unknown>): Promise<number> {
  const before = countOf('records')
  await click()
  return countOf('records') - before
}

describe('what is intended twice is done twice', () => {
  test('the same form from another person or another browser', async () => {
    await send(RECORD, GREETING)
    for (const other of [CONTRIBUTOR, { as: ADMIN, headers: { 'user-agent': 'another' } }])
      expect(await madeBy(() => send(RECORD, GREETING, other))).toBe(1)
  })

  test('the same form after five seconds', async () => {
    await send(RECORD, GREETING)
    app.advance(4999)
    expect(await madeBy(() => send(RECORD, GREETING))).toBe(0)
    app.advance(1)
    expect(await madeBy(() => send(RECORD, GREETING))).toBe(1)
  })

  test('the same form for another schema', async () => {
    const schema = { projectId: ids['id'], name: 'others', fields: [{ name: 'text', type: 'string' }] }
    const { id } = (await ask(app, 'POST', '/api/schemas', { as: ADMIN, json: schema })).body
    await send(RECORD, GREETING)
    expect(await madeBy(() => send(`/projects/:id/data/${id}/new`, GREETING))).toBe(1)
  })

  test('the same form from a page rendered again, and forms from no page', async () => {
    await send(RECORD, GREETING)
    for (const pageId of ['two', 'three', '', ''])
      expect(await madeBy(() => send(RECORD, { ...GREETING, [PAGE_ID]: pageId }))).toBe(1)
  })

  test('each time a page is rendered its forms get new ids', async () => {
    const pageIdOf = async () => {
      const page = await (await browser.open(filled(RECORD), { as: ADMIN })).text()
      return /name="_page_id" value="([^"]+)"/.exec(page)?.[1]
    }
    const [first, second] = [await pageIdOf(), await pageIdOf()]
    expect(first).toMatch(/^[0-9a-f-]{36}$/)
    expect(second).not.toBe(first)
  })

  test('moving a rule up', async () => {
    const level = `/api/proxy-rules/project/${ids['id']}`
    const add = async (pathPattern: string) =>
      (await ask(app, 'POST', level, { as: ADMIN, json: { ...REWRITE, pathPattern } })).body['id']
    for (const pattern of ['/one/*', '/two/*']) await add(pattern)
    const last = await add('/three/*')
    const up = () => send('/projects/:id/rules', { intent: 'reorder', move: `up ${last}` })
    const place = async () =>
      Object((await ask(app, 'GET', level, { as: ADMIN })).body)
        .rules.map(({ id }: { id: string }) => id)
        .indexOf(last)
    const before = await place()
    await Promise.all([up(), up()])
    expect(await place()).toBe(before - 2)
  })
})

test('a rejected form may be sent again immediately', async () => {
  const form = { intent: 'create', hostname: 'late.example.com', alias: 'late' }
  expect((await send('/projects/:id/domains', form)).status).toBe(404)
  await send('/projects/:id/aliases', { intent: 'create', name: 'late', deployment: SHA }, CONTRIBUTOR)
  expect((await send('/projects/:id/domains', form)).status).toBe(303)
})

test('only who deleted a project is told so again, and only for five seconds', async () => {
  const project = { owner: 'acme', name: 'gone' }
  const { id } = (await ask(app, 'POST', '/api/projects', { as: ADMIN, json: project })).body
  const form = { intent: 'delete', confirm: 'acme/gone' }
  const click = async (options: CallOptions) =>
    redirectOf(await send(`/projects/${id}/settings`, form, options))
  const misspelt = await send(`/projects/${id}/settings`, { ...form, confirm: 'acme/gon' })
  expect(misspelt.status).toBe(400)
  const deleted = [303, '/?done=deleted']
  expect([await click({ as: ADMIN }), await click({ as: ADMIN })]).toEqual([deleted, deleted])
  expect((await click({ as: GRACE }))[0]).toBe(404)
  app.advance(5000)
  expect((await click({ as: ADMIN }))[0]).toBe(404)
})

test('key theft: the key is not shown again to another person, or to a person who may no longer create keys', async () => {
  const form = { intent: 'create-key', name: 'spy', scope: 'global', expiresInDays: '' }
  const keyIn = async (answer: Response) => /svc_[\w-]{20,}/.exec(await answer.text())?.[0]
  const demoted = 'demoted@example.com'
  const id = await app.addUser(demoted, 'admin')
  const key = await keyIn(await send('/keys', form, { as: demoted }))
  expect(key).toBeString()
  expect(await keyIn(await send('/keys', form, { as: GRACE }))).not.toBe(key)
  await ask(app, 'PATCH', `/api/users/${id}`, { as: ADMIN, json: { role: 'user' } })
  const refused = await send('/keys', form, { as: demoted })
  expect([refused.status, await keyIn(refused)]).toEqual([403, undefined])
})
