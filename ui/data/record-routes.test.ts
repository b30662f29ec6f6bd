import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let projectId: string
let schemaId: string
let contributor: string
let viewer: string

const FIELDS = [
  { name: 'email', type: 'email', required: true, unique: true },
  { name: 'text', type: 'text' },
  { name: 'stars', type: 'integer', default: 5 },
  { name: 'isRead', type: 'boolean' },
  { name: 'extra', type: 'json' },
]

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const files = { 'index.html': 'x' }
  const seeded = { owner: 'acme', repo: 'website', sha: 'c0ffee1234567890', isPublic: false, files }
  projectId = (await seedDeployment(app, seeded)).projectId
  contributor = await seedMember(app, projectId, 'contributor')
  viewer = await seedMember(app, projectId, 'viewer')
  schemaId = await makeSchema('messages', FIELDS)
})
afterAll(() => app.close())

const at = (rest = '', schema = schemaId) => `/projects/${projectId}/data/${schema}${rest}`
const open = (rest: string, as = contributor, schema = schemaId) => browser.open(at(rest, schema), { as })
const send = (rest: string, fields: Record<string, string>) =>
  browser.submit(at(rest), fields, { as: contributor })
const read = async (rest: string, as = contributor, schema = schemaId): Promise<string> => {
  const answer = await open(rest, as, schema)
  expect(answer.status).toBe(200)
  return answer.text()
}
const api = async (method: string, path: string, json?: unknown) => {
  const answer = await app.call(method, path, { as: ADMIN, ...(json === undefined ? {} : { json }) })
  const text = await answer.text()
  return text === '' ? {} : JSON.parse(text)
}
const makeSchema = async (name: string, fields: unknown): Promise<string> =>
  (await api('POST', '/api/schemas', { projectId, name, fields })).id
const add = async (record: unknown, schema = schemaId): Promise<string> =>
  (await api('POST', `/api/schemas/${schema}/records`, record)).id
const stored = (id: string) => api('GET', `/api/schemas/${schemaId}/records/${id}`)

/** The form's input values as a browser would send them unchanged. */
const formOf = async (id: string): Promise<Record<string, string>> => {
  const { email, text, stars, updatedAt } = await stored(id)
  return {
    ...{
      intent: 'save',
      updatedAt,
      'field.email': email,
      'field.text': (text ?? '').replaceAll('\n', '\r\n'),
    },
    ...{ 'field.stars': String(stars ?? ''), 'field.isRead': '', 'field.extra': '' },
  }
}

describe('the records', () => {
  test('go on where a page had no room for more, with the same filters', async () => {
    const schema = await makeSchema('large', [
      { name: 'n', type: 'integer' },
      { name: 'text', type: 'text' },
    ])
    for (let n = 0; n < 7; n++) await add({ n, text: 'x'.repeat(1.9 * 2 ** 20) }, schema)
    const first = await read('?sort=n&order=asc', contributor, schema)
    expect(first).toContain('1 to 4 of 7')
    const next = /rel="next" href="([^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(next).toEndWith('?sort=n&order=asc&offset=4')
    const second = await (await browser.open(next, { as: contributor })).text()
    expect(second).toContain('5 to 7 of 7')
    expect(second).not.toContain('rel="next"')
    expect(second).toContain('?sort=n&amp;order=desc"')
    expect(await read('?offset=999', contributor, schema)).toContain('1 to 4 of 7')
  })

  test('are filtered, and exported with the same filters', async () => {
    const schema = await makeSchema('found', [
      { name: 'name', type: 'string' },
      { name: 'age', type: 'integer' },
    ])
    for (const [name, age] of [
      ['Ann', 3],
      ['Ben', 5],
      ['Cleo', 8],
    ] as const)
      await add({ name, age }, schema)
    const asked = `field=age&op=gte&value=4&filter%5Bname%5D%5Blike%5D=%25e%25&sort=age&order=asc`
    const answer = await browser.open(at(`?${asked}`, schema), { as: viewer })
    const kept = 'filter%5Bname%5D%5Blike%5D=%25e%25&filter%5Bage%5D%5Bgte%5D=4'
    expect(redirectOf(answer)).toEqual([303, at(`?${kept}&sort=age&order=asc`, schema)])
    const html = await (await browser.open(at(`?${kept}&sort=age&order=asc`, schema), { as: viewer })).text()
    expect([...html.matchAll(/>(Ann|Ben|Cleo)</g)].map(([, name]) => name)).toEqual(['Ben', 'Cleo'])
    expect(html).toContain('2 records')
    expect(html).toContain('age is at least 4')
    expect(html).toContain('name contains e')
    expect(html).toMatch(/aria-sort="ascending"><a href="[^"]*sort=age&amp;order=desc"/)
    const csv =
      html.match(/href="(\/api\/schemas\/[^"]*format=csv&amp;bom=true)"/)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const exported = await app.call('GET', csv, { as: viewer })
    expect((await exported.text()).match(/Ann|Ben|Cleo/g)).toEqual(['Cleo', 'Ben'])
  })

  test('show when a booking is, not how long ago, and say it once where they are edited', async () => {
    const schema = await makeSchema('bookings', [
      { name: 'startsAt', type: 'datetime' },
      { name: 'endsAt', type: 'datetime' },
    ])
    const id = await add({ startsAt: '2026-01-19T12:30:00Z', endsAt: '2026-01-19T13:45:00Z' }, schema)
    for (const rest of ['', `/${id}`]) {
      const html = await (await browser.open(at(rest, schema), { as: viewer })).text()
      expect(html).toContain('>19 Jan 2026, 12:30 UTC<')
      expect(html).toContain('<time datetime="2026-01-19T13:45:00.000Z">19 Jan 2026, 13:45 UTC</time>')
    }
    const form = await (await browser.open(at(`/${id}`, schema), { as: contributor })).text()
    expect(form).toContain('value="2026-01-19T12:30:00Z"')
  })

  test.each([
    ['?filter%5Bstars%5D=many', 'is compared with a value that is not of type integer'],
    ['?filter%5Bnone%5D=1', 'The schema has no field none'],
    ['?filter%5Bstars%5D%5Bnear%5D=1', 'The filter operator must be one of'],
    ['?sort=none', 'sort must be one of'],
  ])('are not shown for %s, and the page says why', async (query, said) => {
    const answer = await open(query)
    const html = await answer.text()
    expect([answer.status, html]).toEqual([400, expect.stringContaining(said)])
    expect(html).toContain('how all records</a>')
  })

  test('keep an invalid filter visible, so that it can be removed', async () => {
    const html = await (await open('?filter%5Bstars%5D=many&filter%5Bname%5D=Ann')).text()
    expect(html).toContain('aria-label="stars is many: remove this filter"')
    expect(html).toContain('aria-label="name is Ann: remove this filter"')
  })

  test('are paginated, and a page after the last shows the last', async () => {
    const schema = await makeSchema('many', [{ name: 'n', type: 'integer' }])
    for (let n = 0; n < 26; n++) await add({ n }, schema)
    const page = async (query: string) => (await browser.open(at(query, schema), { as: contributor })).text()
    expect(await page('')).toContain('Page 1 of 2')
    for (const last of ['?page=2', '?page=9']) {
      const html = await page(last)
      expect(html).toContain('Page 2 of 2')
      expect(html.match(/name="selected\./g)).toHaveLength(1)
    }
  })

  test('are escaped, shortened in the table and complete on their page', async () => {
    const text = `<script>alert(1)</script>${'long '.repeat(100)}the end`
    const id = await add({ email: 'long@example.com', text })
    const list = await read('?filter%5Bemail%5D=long@example.com')
    expect(list).toContain('&lt;script>alert(1)&lt;/script>long')
    expect(list).not.toContain('the end')
    for (const as of [contributor, viewer]) expect(await read(`/${id}`, as)).toContain('long the end')
  })

  test('that are selected are deleted, and no others', async () => {
    const [one, two, three] = [
      await add({ email: '1@x.ch' }),
      await add({ email: '2@x.ch' }),
      await add({ email: '3@x.ch' }),
    ]
    const none = await send('', { intent: 'delete-selected' })
    expect([none.status, await none.text()]).toEqual([400, expect.stringContaining('Select the records')])
    await api('DELETE', `/api/schemas/${schemaId}/records/${two}`)
    const ticked = { [`selected.${one}`]: 'true', [`selected.${two}`]: 'true' }
    const deleted = await send('?filter%5Bstars%5D=5', { intent: 'delete-selected', ...ticked })
    expect(redirectOf(deleted)).toEqual([303, at('?filter%5Bstars%5D=5&done=deleted-selected')])
    expect((await stored(one)).statusCode).toBe(404)
    expect((await stored(three)).email).toBe('3@x.ch')
  })
})

describe('one record', () => {
  test('is added with the given values and defaults', async () => {
    const made = await send('/new', {
      ...{ intent: 'create', 'field.email': 'new@x.ch', 'field.text': 'a\r\nb', 'field.stars': '' },
      ...{ 'field.isRead': 'true', 'field.extra': '{"a": [1]}' },
    })
    const id = made.headers.get('location')?.match(/([\w-]+)\?done=created$/)?.[1] ?? ''
    expect(made.status).toBe(303)
    expect(await stored(id)).toMatchObject({
      ...{ email: 'new@x.ch', text: 'a\nb', stars: 5, isRead: true, extra: { a: [1] } },
    })
  })

  test.each([
    [{ 'field.email': '' }, 'field.email-error', 400],
    [{ 'field.email': 'nobody' }, 'field.email-error', 400],
    [{ 'field.email': 'a@x.ch', 'field.stars': 'many' }, 'field.stars-error', 400],
    [{ 'field.email': 'a@x.ch', 'field.extra': '{' }, 'field.extra-error', 400],
    [{ 'field.email': 'taken@x.ch' }, 'field.email-error', 409],
  ])('is refused with %p, at its input', async (fields, marked, status) => {
    await add({ email: 'taken@x.ch' })
    const answer = await send('/new', { intent: 'create', 'field.text': 'typed', ...fields })
    const html = await answer.text()
    expect([answer.status, html]).toEqual([status, expect.stringContaining(`id="${marked}"`)])
    expect(html).toContain('\ntyped</textarea>')
  })

  test('changes only in the edited fields', async () => {
    const text = '\n first\nsecond'
    const id = await add({ email: 'b@x.ch', text, isRead: null })
    expect(await read(`/${id}`)).toContain(`>\n${text}</textarea>`)
    const saved = await send(`/${id}`, { ...(await formOf(id)), 'field.stars': '' })
    expect(redirectOf(saved)).toEqual([303, at(`/${id}?done=saved`)])
    expect(await stored(id)).toMatchObject({ email: 'b@x.ch', text, stars: null, isRead: null })
  })

  test("does not overwrite somebody else's change until it is saved again", async () => {
    const id = await add({ email: 'c@x.ch', text: 'mine' })
    const form = { ...(await formOf(id)), 'field.text': 'yours', updatedAt: '2026-01-01T00:00:00.000Z' }
    const refused = await send(`/${id}`, form)
    const html = await refused.text()
    expect([refused.status, html]).toEqual([409, expect.stringContaining('Somebody changed this record')])
    expect(html).toContain('\nyours</textarea>')
    const updatedAt = html.match(/name="updatedAt" value="([^"]+)"/)?.[1] ?? ''
    expect((await send(`/${id}`, { ...form, updatedAt })).status).toBe(303)
    expect((await stored(id)).text).toBe('yours')
  })

  test('with a value too long for the form shows it and leaves it unchanged', async () => {
    const text = 'x'.repeat(250_001)
    const id = await add({ email: 'd@x.ch', text })
    const html = await read(`/${id}`)
    expect(html).toContain('is too long to edit here')
    expect(html).not.toContain('name="field.text"')
    const { 'field.text': _, ...form } = await formOf(id)
    expect((await send(`/${id}`, { ...form, 'field.email': 'e@x.ch' })).status).toBe(303)
    expect(await stored(id)).toMatchObject({ email: 'e@x.ch', text })
  })

  test('is deleted', async () => {
    const id = await add({ email: 'f@x.ch' })
    expect(redirectOf(await send(`/${id}`, { intent: 'delete' }))).toEqual([303, at('?done=deleted')])
    expect((await open(`/${id}`)).status).toBe(404)
  })

  test('of another schema is not found', async () => {
    const other = await makeSchema('other', FIELDS)
    const id = await add({ email: 'a@x.ch' }, other)
    expect((await open(`/${id}`)).status).toBe(404)
    expect((await send(`/${id}`, { intent: 'delete' })).status).toBe(404)
    expect((await api('GET', `/api/schemas/${other}/records/${id}`)).email).toBe('a@x.ch')
  })
})
