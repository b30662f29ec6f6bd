import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { csvCell } from '../../domain/csv-cell.ts'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'

const ANN = 'ann@example.com'
let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

type Json = Record<string, unknown>
const call = async (method: string, path: string, json?: unknown, as = ANN) => {
  const answer = await app.call(method, path, { as, ...(json === undefined ? {} : { json }) })
  const text = await answer.text()
  return {
    status: answer.status,
    body: (text === '' ? {} : JSON.parse(text)) as Json,
    headers: answer.headers,
  }
}
const FIELDS = [
  { name: 'email', type: 'email', required: true, unique: true },
  { name: 'age', type: 'integer' },
  { name: 'city', type: 'string', default: 'Bern' },
]
let count = 0
const newSchema = async (fields: unknown = FIELDS, projectId = app.projectId) => {
  const { status, body } = await call('POST', '/api/schemas', {
    projectId,
    name: `people ${++count}`,
    fields,
  })
  expect(status).toBe(201)
  return String(body['id'])
}
const records = (id: string, rest = '') => `/api/schemas/${id}/records${rest}`
const add = async (id: string, fields: Json) => String((await call('POST', records(id), fields)).body['id'])

describe('schemas', () => {
  test('are created, listed, renamed and deleted with their records', async () => {
    const id = await newSchema()
    expect((await call('GET', `/api/schemas/${id}`)).body).toEqual({
      id,
      projectId: app.projectId,
      name: `people ${count}`,
      fields: [
        { name: 'email', type: 'email', required: true, unique: true },
        { name: 'age', type: 'integer', required: false, unique: false },
        { name: 'city', type: 'string', required: false, unique: false, default: 'Bern' },
      ],
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    })
    const taken = await call('POST', '/api/schemas', {
      projectId: app.projectId,
      name: `people ${count}`,
      fields: [],
    })
    expect([taken.status, taken.body['error']]).toEqual([409, 'Conflict'])
    await add(id, { email: 'a@x.ch' })
    expect((await call('PATCH', `/api/schemas/${id}`, { name: 'renamed' })).body).toMatchObject({
      name: 'renamed',
    })
    const list = await call('GET', `/api/schemas?projectId=${app.projectId}`)
    expect((list.body['schemas'] as Json[]).map(({ name }) => name)).toContain('renamed')
    expect((await call('DELETE', `/api/schemas/${id}`)).status).toBe(204)
    expect((await call('GET', `/api/schemas/${id}`)).status).toBe(404)
    expect(app.stored(id)).toEqual([])
  })

  test.each<[what: string, fields: unknown, paths: string[]]>([
    [
      'an unknown type and a bad name',
      [
        { name: 'a', type: 'colour' },
        { name: '1a', type: 'string' },
      ],
      ['fields[0].type', 'fields[1].name'],
    ],
    [
      'names of our own',
      [
        { name: 'id', type: 'string' },
        { name: '__proto__', type: 'string' },
      ],
      ['fields[0].name', 'fields[1].name'],
    ],
    [
      'a name twice',
      [
        { name: 'a', type: 'string' },
        { name: 'a', type: 'text' },
      ],
      ['fields[1].name'],
    ],
    ['a default of another type', [{ name: 'a', type: 'integer', default: 'x' }], ['fields[0].default']],
    ['a name that would be SQL', [{ name: `a"') --`, type: 'string' }], ['fields[0].name']],
    ['unique JSON', [{ name: 'a', type: 'json', unique: true }], ['fields[0].unique']],
    ['no object', ['a'], ['fields[0]']],
  ])('refuse %s', async (_, fields, paths) => {
    const { status, body } = await call('POST', '/api/schemas', {
      projectId: app.projectId,
      name: 'bad',
      fields,
    })
    expect(status).toBe(400)
    expect((body['details'] as Json[]).map(({ path }) => path)).toEqual(paths)
  })

  test('records are updated when fields are added, removed or become unique', async () => {
    const id = await newSchema([
      { name: 'a', type: 'string' },
      { name: 'b', type: 'integer' },
    ])
    const first = await add(id, { a: 'x', b: 1 })
    const second = await add(id, { a: 'x', b: 2 })
    const change = (fields: unknown) => call('PATCH', `/api/schemas/${id}`, { fields })
    const a = { name: 'a', type: 'string' }
    const b = { name: 'b', type: 'integer' }
    expect((await change([{ ...a, unique: true }, b])).status).toBe(409)
    expect((await change([{ ...a, type: 'integer' }, b])).status).toBe(400)
    expect(
      (await change([a, { ...b, unique: true }, { name: 'c', type: 'string', default: 'new' }])).status,
    ).toBe(200)
    expect((await call('GET', records(id, `/${first}`))).body).toMatchObject({ a: 'x', b: 1, c: 'new' })
    expect((await call('PATCH', records(id, `/${second}`), { b: 1 })).status).toBe(409)
    expect((await change([{ ...b }])).status).toBe(200)
    expect(Object.keys((await call('GET', records(id, `/${first}`))).body)).toEqual([
      'id',
      'b',
      'createdAt',
      'updatedAt',
    ])
    expect((await call('PATCH', records(id, `/${second}`), { b: 1 })).status).toBe(200)
    const empty = await newSchema([a])
    expect(
      (await call('PATCH', `/api/schemas/${empty}`, { fields: [{ ...a, type: 'integer' }] })).status,
    ).toBe(200)
  })
})

describe('records', () => {
  test('are created, read, changed and deleted; unknown keys are ignored', async () => {
    const id = await newSchema()
    const made = await call('POST', records(id), { email: 'a@x.ch', unknown: 1 })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        email: 'a@x.ch',
        age: null,
        city: 'Bern',
        createdAt: '2026-11-20T12:00:00.000Z',
        updatedAt: '2026-11-20T12:00:00.000Z',
      },
    ])
    const path = records(id, `/${made.body['id']}`)
    expect((await call('GET', path)).body).toEqual(made.body)
    expect((await call('PATCH', path, { age: 3 })).body).toMatchObject({ age: 3, email: 'a@x.ch' })
    expect((await call('PATCH', path, { email: null })).status).toBe(400)
    expect((await call('POST', records(id), { email: 'a@x.ch' })).status).toBe(409)
    const wrong = await call('POST', records(id), { email: 'x', age: 'old' })
    expect([wrong.status, (wrong.body['details'] as Json[]).map((one) => one['path'])]).toEqual([
      400,
      ['email', 'age'],
    ])
    expect((await call('DELETE', path)).status).toBe(204)
    expect((await call('GET', path)).status).toBe(404)
    expect((await call('DELETE', path)).status).toBe(404)
    expect((await call('POST', records(id), { email: 'a@x.ch' })).status).toBe(201)
    expect(
      app.ctx.db.sqlite
        .query("SELECT count(*) AS n FROM audit_log WHERE action LIKE 'record.%' AND after LIKE ?")
        .get(`%${id}%`),
    ).toEqual({ n: 4 })
  })

  test('are listed in pages, filtered and sorted', async () => {
    const id = await newSchema()
    for (const [i, city] of ['Bern', 'Zug', 'Bern', 'Chur'].entries())
      await add(id, { email: `p${i}@x.ch`, age: 10 * i, city })
    const emails = async (query: string) => {
      const { status, body } = await call('GET', records(id, query))
      return status === 200 ? (body['data'] as Json[]).map(({ email }) => String(email)[1]).join('') : status
    }
    expect(await emails('')).toBe('3210')
    expect(await emails('?filter[city]=Bern')).toBe('20')
    expect(await emails('?filter%5Bcity%5D=Bern&filter%5Bage%5D=20')).toBe('2')
    expect(await emails('?sort=age&order=asc')).toBe('0123')
    expect(await emails('?sort=createdAt&order=asc&limit=2&page=2')).toBe('23')
    for (const bad of [
      '?filter[nobody]=1',
      '?filter[constructor]=1',
      '?filter[age]=old',
      '?sort=nobody',
      '?limit=101',
      "?sort=age'--",
    ])
      expect(await emails(bad)).toBe(400)
    expect((await call('GET', records(id, '?limit=3'))).body['pagination']).toEqual({
      page: 1,
      limit: 3,
      total: 4,
      pages: 2,
    })
  })

  test("another project's ids lead nowhere", async () => {
    const mine = await newSchema()
    const other = await newSchema(FIELDS, app.addProject('elsewhere'))
    const record = await add(mine, { email: 'a@x.ch' })
    for (const [method, json] of [
      ['GET', undefined],
      ['PATCH', { age: 1 }],
      ['DELETE', undefined],
    ] as const)
      expect((await call(method, records(other, `/${record}`), json)).status).toBe(404)
    await app.addUser('eve@example.com')
    for (const path of [
      `/api/schemas/${mine}`,
      records(mine),
      records(mine, `/${record}`),
      records(mine, '/export'),
      `/api/schemas?projectId=${app.projectId}`,
    ])
      expect((await call('GET', path, undefined, 'eve@example.com')).status).toBe(404)
  })
})

describe('export', () => {
  const RISKY = [
    { name: 'text', type: 'string' },
    { name: 'n', type: 'number' },
    { name: 'data', type: 'json' },
  ]
  test('as CSV without executable formulas', async () => {
    const id = await newSchema(RISKY)
    await add(id, { text: '=1+1', n: -5, data: { a: [1] } })
    await add(id, { text: 'a "b", c\nd' })
    const answer = await app.call('GET', records(id, '/export?format=csv'), { as: ANN })
    expect(answer.headers.get('content-type')).toContain('text/csv')
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="people-\d+\.csv"$/)
    const lines = (await answer.text()).split('\r\n')
    expect(lines[0]).toBe('id,text,n,data,createdAt,updatedAt')
    expect(lines[1]).toMatch(/^[0-9a-f-]{36},"a ""b"", c\nd",,,2026/)
    expect(lines[2]).toMatch(/^[0-9a-f-]{36},'=1\+1,-5,"\{""a"":\[1\]\}",2026/)
  })

  test('as CSV that begins with the mark of UTF-8 where it is asked for', async () => {
    const id = await newSchema(RISKY)
    await add(id, { text: 'Größe', n: 1 })
    const bytesOf = async (query: string) => {
      const answer = await app.call('GET', records(id, `/export${query}`), { as: ANN })
      return [answer.status, (await answer.bytes()).slice(0, 3).toHex()]
    }
    expect(await bytesOf('?format=csv&bom=true')).toEqual([200, 'efbbbf'])
    expect(await bytesOf('?format=csv&bom=false')).toEqual([200, Buffer.from('id,').toString('hex')])
    expect(await bytesOf('?format=csv')).toEqual([200, Buffer.from('id,').toString('hex')])
    expect(await bytesOf('?format=json&bom=true')).toEqual([200, Buffer.from('[{"').toString('hex')])
    expect((await bytesOf('?format=csv&bom=1'))[0]).toBe(400)
  })

  test('as JSON, complete at any size', async () => {
    const id = await newSchema([{ name: 'i', type: 'integer' }])
    await Promise.all(
      Array.from({ length: 1200 }, (_, i) => app.call('POST', records(id), { as: ANN, json: { i } })),
    )
    const { body, status } = await call('GET', records(id, '/export'))
    expect(status).toBe(200)
    expect(new Set((body as unknown as Json[]).map(({ i }) => i)).size).toBe(1200)
    expect((await call('GET', records(await newSchema(), '/export?format=json'))).body).toEqual([] as never)
    expect((await call('GET', records(id, '/export?format=xml'))).status).toBe(400)
  })

  test.each<[value: unknown, cell: string]>([
    ['plain', 'plain'],
    ['=cmd', "'=cmd"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['\tx', "'\tx"],
    ['\n=x', '"\'\n=x"'],
    ['\uff1dx', "'\uff1dx"],
    ['=a,b', '"\'=a,b"'],
    [-1, '-1'],
    [true, 'true'],
    [null, ''],
    ['a\rb', '"a\rb"'],
  ])('%j is the cell %j', (value, cell) => {
    expect(csvCell(value)).toBe(cell)
  })
})
