import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type RulesApp, rulesApp } from './testing.ts'

/** The contact form. contract 17.5. */
let project: RulesApp
beforeAll(async () => {
  project = await rulesApp()
})
afterAll(() => project.app.close())

const FORM = {
  intent: 'save',
  path: '/api/contact',
  fields: 'name, email, message',
  schema: 'messages',
  next: '/thanks',
}
const make = (more: Record<string, string> = {}) => project.submit('/new?form=contact', { ...FORM, ...more })
const schemas = async (): Promise<{ id: string; name: string; fields: { name: string }[] }[]> =>
  (await project.json('GET', `/api/schemas?projectId=${project.site.projectId}`)).schemas

beforeEach(() => {
  project.clear()
  project.app.ctx.db.sqlite.run('DELETE FROM schemas')
})

test('the page has the answers that most sites give, and shows what they make', async () => {
  const html = await project.read(project.at('/new?form=contact'))
  for (const value of ['/api/contact', 'name, email, message', 'messages', '/thanks'])
    expect(html).toContain(`value="${value}"`)
  expect(html).toContain('honeypotField: website')
  const shown = await make({ schema: 'letters', show: 'true' })
  expect([shown.status, (await shown.text()).includes('$schema:letters')]).toEqual([200, true])
  expect(await project.order()).toEqual([])
})

describe('the rule that it makes', () => {
  const send = (fields: Record<string, string>) =>
    project.app.call('POST', '/public/acme/website/production/api/contact', {
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  const GOOD = { name: 'Ann', email: 'ann@example.com', message: 'Hello' }
  const count = async () => {
    const [schema] = await schemas()
    return (await project.json('GET', `/api/schemas/${schema?.id}/records`)).pagination.total
  }

  test('stores a record and leads on; what programs fill in stores nothing', async () => {
    const made = await make()
    expect([made.status, made.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('done=created'),
    ])
    expect((await schemas()).map(({ name, fields }) => [name, fields.map((field) => field.name)])).toEqual([
      ['messages', ['name', 'email', 'message']],
    ])
    const answer = await send({ ...GOOD, website: '' })
    expect([answer.status, answer.headers.get('location'), await count()]).toEqual([303, '/thanks', 1])
    await send({ ...GOOD, website: 'https://spam.example' })
    expect([(await send({ ...GOOD, email: 'nobody' })).status, await count()]).toEqual([400, 1])
  })

  test('uses a schema that is there, unless that lacks a field', async () => {
    const json = {
      projectId: project.site.projectId,
      name: 'messages',
      fields: [{ name: 'name', type: 'string' }],
    }
    await project.json('POST', '/api/schemas', json)
    const refused = await make()
    expect([refused.status, (await refused.text()).includes('has no email, message')]).toEqual([400, true])
    expect((await make({ fields: 'name' })).status).toBe(303)
    expect((await schemas()).length).toBe(1)
  })
})

test.each([
  ['path', 'api'],
  ['fields', ''],
  ['fields', 'a, a'],
  ['fields', 'a-b'],
  ['fields', 'website'],
  ['schema', '$'],
  ['next', 'https://elsewhere.example'],
  ['next', '//elsewhere.example'],
  ['next', "/a'{{b}}"],
])('%s %p is refused beside it, and makes neither', async (name, value) => {
  const answer = await make({ [name]: value })
  expect([answer.status, (await answer.text()).includes(`id="${name}-error"`)]).toEqual([400, true])
  expect([await project.order(), await schemas()]).toEqual([[], []])
})

test('a rule that is refused leaves no schema behind', async () => {
  project.app.ctx.db.sqlite.run(
    "CREATE TEMP TRIGGER full BEFORE INSERT ON proxy_rules BEGIN SELECT RAISE(ABORT, 'full'); END",
  )
  expect((await make()).status).toBe(500)
  project.app.ctx.db.sqlite.run('DROP TRIGGER full')
  expect(await schemas()).toEqual([])
})
