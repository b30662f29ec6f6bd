import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp, type RunOptions, step } from '../../testing/pipeline-app.ts'

let app: PipelineApp
beforeEach(async () => {
  app = await pipelineApp()
})
afterEach(() => app.close())

const form = (fields: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  step('form', 'form_handler', { fields, ...more })
const data = (value: unknown) => ({ status: 200, body: { success: true, data: value } })

describe('records', () => {
  const FIELDS = [
    { name: 'email', type: 'email', required: true, unique: true },
    { name: 'age', type: 'integer' },
    { name: 'city', type: 'string', default: 'Bern' },
    { name: 'ok', type: 'boolean' },
  ] as const
  let schemaId: string
  const ids: string[] = []
  beforeEach(async () => {
    schemaId = app.addSchema('people', [...FIELDS])
    ids.length = 0
    for (const [email, age, city, ok] of [
      ['a@x.ch', 30, 'Bern', true],
      ['b@x.ch', 40, 'Zug', false],
      ['c@x.ch', null, 'Bern', true],
    ] as const) {
      const { body } = await app.answer([
        create({ email: `'${email}'`, age: age ?? 'null', city: `'${city}'`, ok }),
      ])
      ids.push((body as { data: { id: string } }).data.id)
    }
  })
  const create = (fields: Record<string, unknown>) =>
    step('made', 'data_create', { schemaId: '$schema:people', fields })
  const query = (config: Record<string, unknown> = {}) =>
    step('found', 'data_query', { schemaId: '$schema:people', ...config })
  const emails = async (config: Record<string, unknown>, options: RunOptions = {}) => {
    const { body } = await app.answer([query(config)], options)
    return (body as { data: { email: string }[] }).data.map(({ email }) => email[0]).join('')
  }

  const careful = (fields: Record<string, unknown>) =>
    step('made', 'data_create', { schemaId: '$schema:people', fields, failOnError: false })

  test('with failOnError false a refused record is an output', async () => {
    expect(await app.answer([careful({ email: "'a@x.ch'" })])).toEqual(
      data({ errors: { email: 'There is already a record with this email' } }),
    )
    expect(await app.answer([careful({ email: "'a@'", age: "'old'" })])).toEqual(
      data({ errors: { email: 'email must be an email address', age: 'age must be a whole number' } }),
    )
    expect((await app.answer([careful({ email: "'d@x.ch'" })])).body).toMatchObject({
      data: { email: 'd@x.ch', id: expect.any(String), errors: null },
    })
    expect(await emails({})).toBe('dcba')
  })

  test('of two equal forms at once the second gets the page that a later one gets', async () => {
    const page = { status: 409, contentType: 'text/html; charset=utf-8', body: '{{steps.made.errors.email}}' }
    const join = async () => {
      const answer = await app.run([
        careful({ email: "'d@x.ch'" }),
        step('again', 'response_handler', { condition: 'steps.made.errors', ...page }),
        step('joined', 'response_handler', { status: 303, headers: { location: '/welcome' } }),
      ])
      return { status: answer.status, text: await answer.text() }
    }
    const known = { status: 409, text: 'There is already a record with this email' }
    const both = await Promise.all([join(), join()])
    expect(both.toSorted((a, b) => a.status - b.status)).toEqual([{ status: 303, text: '' }, known])
    expect(await join()).toEqual(known)
  })

  test('data_create returns the record, with defaults and every field', async () => {
    const { body } = await app.answer([create({ email: 'input.email' })], { json: { email: 'd@x.ch' } })
    expect(body).toEqual({
      success: true,
      data: {
        id: expect.any(String),
        email: 'd@x.ch',
        age: null,
        city: 'Bern',
        ok: null,
        createdAt: '2026-11-20T12:00:00.000Z',
        updatedAt: '2026-11-20T12:00:00.000Z',
      },
    })
  })

  test('what says the same is converted in steps, and not by the API', async () => {
    const values = { email: "'d@x.ch'", age: "'41'", city: 7, ok: "'false'" }
    const converted = { email: 'd@x.ch', age: 41, city: '7', ok: false }
    expect(await app.answer([create(values)])).toMatchObject(data(converted))
    const filters = { email: { op: 'eq', value: 'd@x.ch' } }
    const change = (more: Record<string, unknown>) =>
      app.answer([step('u', 'data_update', { schemaId, fields: { age: "'42'", ok: 'true' }, ...more })])
    expect(await change({ filters })).toMatchObject(
      data({ count: 1, updated: [{ ...converted, age: 42, ok: true }] }),
    )
    expect(await change({ recordId: ids[0] })).toMatchObject(data({ id: ids[0], age: 42, ok: true }))
    const times = step('t', 'data_create', { schemaId, fields: { email: "'t@x.ch'", age: 'now()' } })
    expect(await app.answer([times])).toMatchObject(data({ age: app.ctx.now() }))
    const path = `/api/schemas/${schemaId}/records`
    const refused = await app.call('POST', path, {
      as: 'ann@example.com',
      json: { email: 'e@x.ch', age: '41' },
    })
    expect(refused.status).toBe(400)
  })

  test.each<[what: string, fields: Record<string, unknown>, status: number, paths: string[]]>([
    ['a missing field', { age: 1 }, 400, ['email']],
    ['every wrong type', { email: 5, age: "'x'", ok: "'yes'" }, 400, ['email', 'age', 'ok']],
    ['a value that is taken', { email: "'a@x.ch'" }, 409, ['email']],
  ])('data_create refuses %s', async (_, fields, status, paths) => {
    const { status: got, body } = await app.answer([create(fields)])
    expect(got).toBe(status)
    expect(body).toMatchObject({ step: 'made', details: paths.map((path) => ({ path })) })
    expect(app.stored(schemaId)).toHaveLength(3)
  })

  test.each<[config: Record<string, unknown>, found: string]>([
    [{}, 'cba'],
    [{ pageSize: 2 }, 'cb'],
    [{ limit: '1' }, 'c'],
    [{ pageSize: 2, page: 2 }, 'a'],
    [{ pageSize: 2, offset: 1 }, 'ba'],
    [{ filters: { city: { op: 'eq', value: 'Bern' } } }, 'ca'],
    [{ filters: { city: { op: 'ne', value: 'Bern' } } }, 'b'],
    [{ filters: { age: { op: 'gt', value: 30 } } }, 'b'],
    [{ filters: { age: { op: 'gte', value: 'request.query.age' } } }, 'ba'],
    [{ filters: { age: { op: 'lt', value: 40 } } }, 'a'],
    [{ filters: { age: { op: 'lte', value: 40 } } }, 'ba'],
    [{ filters: { age: { op: 'eq', value: 'request.query.missing' } } }, 'c'],
    [{ filters: { age: { op: 'ne', value: 'null' } } }, 'ba'],
    [{ filters: { ok: { op: 'eq', value: true } } }, 'ca'],
    [{ filters: { email: { op: 'like', value: "'b@%'" } } }, 'b'],
    [{ filters: { age: { op: 'in', value: [30, 40] } } }, 'ba'],
    [{ filters: { age: { op: 'in', value: [] } } }, ''],
    [{ filters: { age: { op: 'in', value: 30 } } }, 'a'],
    [{ filters: { createdAt: { op: 'lte', value: '2026-11-20' } } }, ''],
    [{ filters: { createdAt: { op: 'gt', value: '2026-11-20' } } }, 'cba'],
    [
      { filters: { city: { op: 'eq', value: 'Zug' }, age: { op: 'eq', value: 30 } }, filterLogic: 'or' },
      'ba',
    ],
    [{ filters: { city: { op: 'eq', value: 'Zug' }, age: { op: 'eq', value: 30 } } }, ''],
    [
      {
        filters: {
          age: [
            { op: 'gte', value: 30 },
            { op: 'lt', value: 40 },
          ],
        },
      },
      'a',
    ],
    [
      {
        filters: {
          age: [
            { op: 'lt', value: 40 },
            { op: 'eq', value: 'null' },
          ],
        },
        filterLogic: 'or',
      },
      'ca',
    ],
    [{ filters: { email: { op: 'eq', value: "x' OR '1'='1" } } }, ''],
    [{ orderBy: { field: 'age', direction: 'asc' } }, 'cab'],
    [{ orderBy: { field: 'city' } }, 'bca'],
    [{ orderBy: { field: 'createdAt', direction: 'asc' } }, 'abc'],
    [{ pageSize: 5000 }, 'cba'],
  ])('data_query %j finds %s', async (config, found) => {
    expect(await emails(config, { method: 'GET', path: '/api/x?age=30' })).toBe(found)
  })

  test('a number in a filter matches the same text in a text field', async () => {
    await app.run([create({ email: "'d@x.ch'", city: "'8001'" })])
    await app.run([create({ email: "'e@x.ch'", city: "'true'" })])
    expect(await emails({ filters: { city: { op: 'eq', value: '8001' } } })).toBe('d')
    expect(await emails({ filters: { city: { op: 'in', value: [8001, 'true'] } } })).toBe('ed')
  })

  test.each<[config: Record<string, unknown>]>([
    [{ filters: { nobody: { op: 'eq', value: 1 } } }],
    [{ filters: { "a' OR 1=1 --": { op: 'eq', value: 1 } } }],
    [{ filters: { city: { op: '= 1 OR', value: 1 } } }],
    [{ filters: { age: [{ op: 'input.op', value: 1 }] } }],
    [{ filters: { age: { op: 'eq', value: "'many'" } } }],
    [{ orderBy: { field: 'age; DROP TABLE records' } }],
    [{ orderBy: { field: 'age', direction: 'sideways' } }],
    [{ pageSize: 0 }],
    [{ page: "'x'" }],
    [{ filters: { city: { op: 'like', value: `'${'%a'.repeat(400)}'` } } }],
  ])('data_query refuses %j', async (config) => {
    expect((await app.run([query(config)])).status).toBe(400)
  })

  test('data_query of one record: by id, the first, none; with selected fields', async () => {
    const one = async (config: Record<string, unknown>) =>
      ((await app.answer([query(config)])).body as { data: unknown }).data
    expect(await one({ recordId: `'${ids[1]}'` })).toMatchObject({ email: 'b@x.ch' })
    expect(await one({ recordId: "'nobody'" })).toBeNull()
    expect(await one({ single: true, filters: { city: { op: 'eq', value: 'Bern' } } })).toMatchObject({
      email: 'c@x.ch',
    })
    expect(await one({ single: true, filters: { city: { op: 'eq', value: 'Rome' } } })).toBeNull()
    expect(await one({ select: ['email', 'id'], pageSize: 1 })).toEqual([{ email: 'c@x.ch', id: ids[2] }])
  })

  test('data_update changes one record or all that match', async () => {
    const update = (config: Record<string, unknown>) =>
      step('changed', 'data_update', { schemaId, ...config })
    const at = async (config: Record<string, unknown>) => app.answer([update(config)])
    app.advance(1000)
    expect(await at({ recordId: `'${ids[0]}'`, fields: { age: 31 } })).toMatchObject({
      status: 200,
      body: { data: { id: ids[0], age: 31, email: 'a@x.ch', updatedAt: '2026-11-20T12:00:01.000Z' } },
    })
    expect(await at({ recordId: "'nobody'", fields: { age: 31 } })).toEqual(data(null))
    expect(await at({ filters: { city: { op: 'eq', value: 'Bern' } }, fields: { ok: false } })).toMatchObject(
      { body: { data: { count: 2, updated: [{ ok: false }, { ok: false }] } } },
    )
    expect((await at({ recordId: `'${ids[0]}'`, fields: { email: "'b@x.ch'" } })).status).toBe(409)
    expect((await at({ recordId: `'${ids[0]}'`, fields: { email: 'null' } })).status).toBe(400)
    expect((await at({ recordId: `'${ids[0]}'`, fields: { email: "'new@x.ch'" } })).status).toBe(200)
    expect((await app.answer([create({ email: "'a@x.ch'" })])).status).toBe(200)
    expect((await at({ fields: { age: 1 } })).status).toBe(500)
  })

  test('data_update adds to numbers, and its filters hold under many concurrent requests', async () => {
    const change = (config: Record<string, unknown>) =>
      app.answer([step('changed', 'data_update', { schemaId, ...config })])
    const filters = { email: { op: 'eq', value: 'a@x.ch' }, age: { op: 'gte', value: 1 } }
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => change({ filters, add: { age: -1 }, fields: { city: 'Genf' } })),
    )
    const counts = answers.map(({ body }) => (body as { data: { count: number } }).data.count)
    expect(counts.filter((count) => count === 1)).toHaveLength(30)
    expect(app.stored(schemaId)).toContainEqual(
      expect.objectContaining({ email: 'a@x.ch', age: 0, city: 'Genf' }),
    )

    const recordId = `'${ids[2]}'`
    expect(await change({ recordId, add: { age: 5 } })).toMatchObject({ body: { data: { age: 5 } } })
    for (const add of [{ age: 'input.none' }, { age: 0.5 }, { city: 1 }, { nothing: 1 }])
      expect((await change({ recordId, add })).status).toBe(400)
    expect(app.stored(schemaId)).toContainEqual(expect.objectContaining({ email: 'c@x.ch', age: 5 }))
  })

  test.each(['data_query', 'data_update', 'data_delete'])(
    '%s of one record by its id changes nothing if the filters do not match',
    async (handler) => {
      const run = async (more: Record<string, unknown>) => {
        const fields = handler === 'data_update' ? { fields: { age: 99 } } : {}
        const config = { schemaId, recordId: `'${ids[0]}'`, ...more, ...fields }
        const { body } = await app.answer([step('one', handler, config)])
        return JSON.stringify(body)
      }
      const before = app.stored(schemaId)
      const other = [
        { filters: { email: { op: 'eq', value: 'b@x.ch' } } },
        {
          filters: { email: { op: 'eq', value: 'b@x.ch' }, age: { op: 'gt', value: 98 } },
          filterLogic: 'or',
        },
      ]
      for (const more of other) expect(await run(more)).not.toContain(String(ids[0]))
      expect(app.stored(schemaId)).toEqual(before)
      expect(await run({ filters: { email: { op: 'eq', value: 'a@x.ch' } } })).toContain(String(ids[0]))
    },
  )

  test('data_delete deletes one record or all that match, and never all by accident', async () => {
    const remove = (config: Record<string, unknown>) =>
      app.answer([step('gone', 'data_delete', { schemaId, ...config })])
    expect(await remove({ recordId: 'request.query.missing' })).toEqual(data({ count: 0, deletedIds: [] }))
    expect((await remove({})).status).toBe(500)
    expect((await remove({ filters: {} })).status).toBe(500)
    expect((await remove({ filters: { age: [] } })).status).toBe(500)
    expect(await remove({ recordId: `'${ids[0]}'` })).toEqual(data({ count: 1, deletedIds: [ids[0]] }))
    expect(await remove({ filters: { age: { op: 'gt', value: 0 } } })).toEqual(
      data({ count: 1, deletedIds: [ids[1]] }),
    )
    expect(app.stored(schemaId)).toHaveLength(1)
    expect((await app.answer([create({ email: "'a@x.ch'" })])).status).toBe(200)
  })

  test.each<[config: Record<string, unknown>, result: unknown]>([
    [{ operation: 'count' }, 3],
    [{ operation: 'count', field: 'age' }, 2],
    [{ operation: 'count', filters: { city: { op: 'eq', value: 'Bern' } } }, 2],
    [{ operation: 'sum', field: 'age' }, 70],
    [{ operation: 'avg', field: 'age' }, 35],
    [{ operation: 'min', field: 'age' }, 30],
    [{ operation: 'max', field: 'email' }, 'c@x.ch'],
    [{ operation: 'min', field: 'ok' }, false],
    [{ operation: 'max', field: 'createdAt' }, '2026-11-20T12:00:00.000Z'],
    [{ operation: 'count', field: 'updatedAt' }, 3],
    [{ operation: 'count', groupBy: 'createdAt' }, [{ createdAt: '2026-11-20T12:00:00.000Z', value: 3 }]],
    [{ operation: 'avg', field: 'age', filters: { city: { op: 'eq', value: 'Rome' } } }, null],
    [
      { operation: 'count', groupBy: 'city' },
      [
        { city: 'Bern', value: 2 },
        { city: 'Zug', value: 1 },
      ],
    ],
    [
      { operation: 'count', groupBy: 'ok' },
      [
        { ok: false, value: 1 },
        { ok: true, value: 2 },
      ],
    ],
  ])('aggregate %j is %j', async (config, result) => {
    for (const handler of ['aggregate_handler', 'db_aggregate'])
      expect(await app.answer([step('n', handler, { schemaId, ...config })])).toEqual(data(result))
  })

  test.each<[config: Record<string, unknown>]>([
    [{ operation: 'median', field: 'age' }],
    [{ operation: 'sum' }],
    [{ operation: 'sum', field: 'city' }],
    [{ operation: 'count', groupBy: 'nobody' }],
  ])('aggregate refuses %j', async (config) => {
    expect((await app.run([step('n', 'aggregate_handler', { schemaId, ...config })])).status).toBe(400)
  })

  test("another project's schema does not exist, by name or by id", async () => {
    const other = app.addProject('other')
    for (const reference of ['$schema:people', schemaId]) {
      for (const handler of [
        'data_query',
        'data_create',
        'data_update',
        'data_delete',
        'aggregate_handler',
      ]) {
        const config = { schemaId: reference, fields: {}, recordId: `'${ids[0]}'`, operation: 'count' }
        expect((await app.run([step('s', handler, config)], { projectId: other })).status).toBe(500)
      }
    }
    expect(app.stored(schemaId)).toHaveLength(3)
  })

  test('200 posts at once make 200 records', async () => {
    const steps = [form({ email: { type: 'email', required: true } }), create({ email: 'steps.form.email' })]
    const before = app.ctx.db.writes
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => app.run(steps, { json: { email: `n${i}@x.ch` } })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(app.stored(schemaId)).toHaveLength(203)
    expect(app.ctx.db.writes - before).toBeLessThan(100)
  })
})
