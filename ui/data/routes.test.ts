import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let projectId: string
let contributor: string
let viewer: string

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const files = { 'index.html': '<p class="x">Hi</p>', 'notes.txt': '<p>', 'big.js': 'let a;'.repeat(12_000) }
  const seeded = { owner: 'acme', repo: 'website', sha: 'c0ffee1234567890', isPublic: false, files }
  projectId = (await seedDeployment(app, seeded)).projectId
  contributor = await seedMember(app, projectId, 'contributor')
  viewer = await seedMember(app, projectId, 'viewer')
})
afterAll(() => app.close())

const at = (rest = '') => `/projects/${projectId}/data${rest}`

async function read(path: string, as = contributor): Promise<string> {
  const answer = await browser.open(path, { as })
  expect(answer.status).toBe(200)
  return answer.text()
}

const api = async (method: string, path: string, json?: unknown) => {
  const answer = await app.call(method, path, { as: ADMIN, ...(json === undefined ? {} : { json }) })
  return answer.json()
}
const makeSchema = async (name: string, fields: unknown): Promise<string> =>
  (await api('POST', '/api/schemas', { projectId, name, fields })).id
const fieldsOf = async (id: string) => (await api('GET', `/api/schemas/${id}`)).fields
const addTo = async (id: string, record: unknown): Promise<string> =>
  (await api('POST', `/api/schemas/${id}/records`, record)).id

/** The field inputs as the form sends them. */
const rows = (...fields: Record<string, string>[]): Record<string, string> =>
  Object.fromEntries(
    fields.flatMap((field, at) =>
      Object.entries(field).map(([key, value]) => [`fields[${at}].${key}`, value]),
    ),
  )

describe('the list', () => {
  test('explains schemas when there are none, to people who may create one', async () => {
    const other = await app.call('POST', '/api/projects', {
      as: ADMIN,
      json: { owner: 'acme', name: 'empty' },
    })
    const { id } = await other.json()
    const html = await read(`/projects/${id}/data`, ADMIN)
    expect(html).toContain('schemas/messages.schema.yaml')
    expect(html).toContain('svc rules push .svc/proxy-rules/book')
    expect(html).toContain('--project acme/empty')
    expect(html).toContain(`href="/projects/${id}/data/new"`)
    expect(await read(at(), viewer)).not.toContain('/data/new')
  })

  test('shows the fields, the size and the pipelines of each schema', async () => {
    const id = await makeSchema('guests', [{ name: 'email', type: 'email' }])
    await addTo(id, { email: 'a@example.com' })
    const step = (schemaId: string, handlerType = 'data_create') => ({
      ...{ id: handlerType, handlerType },
      config: { schemaId, ...(handlerType === 'data_create' ? { fields: {} } : {}) },
    })
    const rule = (pathPattern: string, steps: unknown) =>
      api('POST', `/api/proxy-rules/project/${projectId}`, {
        ...{ pathPattern, method: 'POST', proxyType: 'pipeline' },
        pipelineConfig: { steps },
      })
    const byName = await rule('/api/guests', [step('$schema:guests'), step('$schema:guests', 'data_query')])
    const byId = await rule('/api/other', [step(id)])
    const html = await read(at())
    expect(html).toContain(`href="${at(`/${id}`)}"`)
    for (const used of [byName, byId]) expect(html).toContain(`/projects/${projectId}/rules/${used.id}`)
    expect(html).toContain('POST /api/guests')
    expect(html).toContain('data_create, data_query')
    expect(html).toContain(`${'{"email":"a@example.com"}'.length}\u00a0B`)
    const unused = await makeSchema('unused', [])
    expect(await read(at(`/${id}/schema`))).toContain('Rename it there too')
    expect(await read(at(`/${unused}/schema`))).not.toContain('Rename it there too')
  })
})

describe('a new schema', () => {
  test('has the fields that were named, with their types and defaults', async () => {
    const made = await browser.submit(
      at('/new'),
      {
        ...{ intent: 'save', name: 'orders' },
        ...rows(
          { name: 'email', type: 'email', required: 'true', unique: 'true', default: '' },
          { name: '', type: 'string', default: 'ignored' },
          { name: 'count', type: 'integer', default: '3' },
        ),
      },
      { as: contributor },
    )
    const id = made.headers.get('location')?.match(/data\/([\w-]+)\?done=created$/)?.[1] ?? ''
    expect(made.status).toBe(303)
    expect(await fieldsOf(id)).toEqual([
      { name: 'email', type: 'email', required: true, unique: true },
      { name: 'count', type: 'integer', required: false, unique: false, default: 3 },
    ])
    expect(await read(at(`/${id}?done=created`))).toContain('The schema was created.')
  })

  const wrong: [what: string, field: Record<string, string>, marked: string][] = [
    ['a name that cannot be', { name: '1a', type: 'string', default: '' }, 'fields[1].name-error'],
    ['a default of another type', { name: 'a', type: 'integer', default: 'x' }, 'fields[1].default-error'],
    ['a type that there is not', { name: 'a', type: 'colour', default: '' }, 'fields[1].type-error'],
  ]
  test.each(wrong)('is refused for %s, at its row', async (_what, field, marked) => {
    const fields = rows({ name: '', type: 'string', default: '' }, field)
    const answer = await browser.submit(
      at('/new'),
      { intent: 'save', name: 'x', ...fields },
      { as: contributor },
    )
    const html = await answer.text()
    expect(answer.status).toBe(400)
    expect(html).toContain(`id="${marked}"`)
    expect(html).toContain(`value="${field['name']}"`)
  })

  test('gets more rows and keeps what was typed', async () => {
    const fields = rows({ name: 'email', type: 'email', default: 'x' })
    const answer = await browser.submit(
      at('/new'),
      { intent: 'more', name: 'kept', ...fields },
      { as: contributor },
    )
    const html = await answer.text()
    expect(answer.status).toBe(200)
    expect(html).toContain('value="kept"')
    expect(html).toContain('value="email"')
    expect(html).toContain('name="fields[3].name"')
    expect(html).not.toContain('name="fields[4].name"')
  })
})

describe('a schema', () => {
  const stored = (name: string, type = 'string', more: Record<string, string> = {}) => ({
    ...{ name, type, stored: 'true', default: '' },
    ...more,
  })

  test('is renamed and gets a field; an empty default stays one', async () => {
    const id = await makeSchema('first', [{ name: 'a', type: 'string', default: '' }])
    const fields = rows(stored('a'), { name: 'b', type: 'number', default: '1.5' })
    const form = { intent: 'save', name: 'renamed', ...fields }
    const saved = await browser.submit(at(`/${id}/schema`), form, { as: contributor })
    expect(redirectOf(saved)).toEqual([303, `${at(`/${id}/schema`)}?done=saved`])
    expect(await fieldsOf(id)).toEqual([
      { name: 'a', type: 'string', required: false, unique: false, default: '' },
      { name: 'b', type: 'number', required: false, unique: false, default: 1.5 },
    ])
    expect(await read(at(`/${id}/schema`))).toContain('value="renamed"')
  })

  test('loses a field with values only after confirmation', async () => {
    const id = await makeSchema(
      'second',
      ['a', 'b'].map((name) => ({ name, type: 'string' })),
    )
    const recordId = await addTo(id, { a: 'x', b: 'y' })
    const form = {
      intent: 'save',
      name: 'second',
      ...rows(stored('a'), stored('b', 'string', { remove: 'true' })),
    }
    const asked = await browser.submit(at(`/${id}/schema`), form, { as: contributor })
    const html = await asked.text()
    expect(asked.status).toBe(400)
    expect(html).toContain('remove b from 1 record')
    expect(html).toContain('<a href="#isRemovalMeant">Tick the box</a>')
    expect(html).toContain('id="isRemovalMeant"')
    expect(await fieldsOf(id)).toHaveLength(2)
    const meant = { ...form, isRemovalMeant: 'true' }
    expect((await browser.submit(at(`/${id}/schema`), meant, { as: contributor })).status).toBe(303)
    expect(await api('GET', `/api/schemas/${id}/records/${recordId}`)).not.toHaveProperty('b')
  })

  test('keeps a field that was added while the form was open', async () => {
    const id = await makeSchema(
      'third',
      ['a', 'new'].map((name) => ({ name, type: 'string' })),
    )
    const form = { intent: 'save', name: 'third', ...rows(stored('a')) }
    expect((await browser.submit(at(`/${id}/schema`), form, { as: contributor })).status).toBe(303)
    expect((await fieldsOf(id)).map(({ name }: { name: string }) => name)).toEqual(['a', 'new'])
  })

  test('keeps the type of a stored field, and says so in its row', async () => {
    const id = await makeSchema('typed', [{ name: 'a', type: 'string' }])
    await addTo(id, { a: 'x' })
    expect(await read(at(`/${id}/schema`))).toMatch(
      /name="fields\[0\]\.type"[^>]*>\s*<option value="string" selected[^>]*>string<\/option>\s*<\/select>/,
    )
    const blank = { name: '', type: 'string', default: '' }
    const form = { intent: 'save', name: 'typed', ...rows(blank, stored('a', 'integer')) }
    const refused = await browser.submit(at(`/${id}/schema`), form, { as: contributor })
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('id="fields[1].type-error"'),
    ])
  })

  test('without records is deleted at once', async () => {
    const id = await makeSchema('empty', [])
    const deleted = await browser.submit(at(`/${id}/schema`), { intent: 'delete' }, { as: contributor })
    expect(redirectOf(deleted)).toEqual([303, `${at()}?done=deleted`])
  })

  test('with records is deleted only if its name is typed', async () => {
    const id = await makeSchema('gone', [])
    await app.call('POST', `/api/schemas/${id}/records`, { as: contributor, json: { note: 'x' } })
    const without = await browser.submit(
      at(`/${id}/schema`),
      { intent: 'delete', confirm: 'x' },
      { as: contributor },
    )
    expect([without.status, await without.text()]).toEqual([
      400,
      expect.stringContaining('Type gone to confirm.'),
    ])
    const deleted = await browser.submit(
      at(`/${id}/schema`),
      { intent: 'delete', confirm: 'gone' },
      { as: contributor },
    )
    expect(redirectOf(deleted)).toEqual([303, `${at()}?done=deleted`])
    expect((await browser.open(at(`/${id}`), { as: contributor })).status).toBe(404)
  })
})

describe('the preview of a file', () => {
  const open = async (path: string) => {
    const { data } = await api('GET', `/api/deployments?projectId=${projectId}`)
    return read(`/projects/${projectId}/deployments/${data[0].number}/files?path=${path}`)
  }

  test('is coloured, and still escaped', async () => {
    expect(await open('index.html')).toContain(
      '&lt;<span class="hl-name">p</span> <span class="hl-value">class</span>=<span class="hl-string">&quot;x&quot;</span>>Hi',
    )
  })

  test.each(['notes.txt', 'big.js'])('is plain for %s', async (path) => {
    expect(await open(path)).not.toContain('class="hl-')
  })
})
