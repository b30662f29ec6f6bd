import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp, step } from '../../testing/pipeline-app.ts'
import { operatorGrant } from '../auth/authorize.ts'
import { findSchemaOf } from '../schemas/service.ts'
import { JsonList, MAX_LIST_BYTES } from './json-list.ts'
import { addRecord, changeRecord, getRecord, listRecords, removeRecord } from './manage.ts'
import { orderOf } from './where.ts'

const MIB = 2 ** 20
let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp({ MAX_RECORD_BYTES: '2MiB' }, { isOnDisk: true })
})
afterAll(() => app.close())

const grant = () => operatorGrant(app.projectId)
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    ({ status, code, message }) => [status, code, message],
  )
const filler = (text: string, bytes: number) => text.repeat(Math.floor(bytes / Buffer.byteLength(text)))
const FIELDS = [
  { name: 'n', type: 'integer' },
  { name: 'text', type: 'text' },
  { name: 'odd', type: 'boolean' },
  { name: 'any', type: 'json' },
] as const

/** Records of one size, written past the bound as an earlier version would have. */
function schemaWith(name: string, count: number, bytes: number): string {
  const schemaId = app.addSchema(name, [...FIELDS])
  const text = filler('ü', bytes)
  const insert = app.ctx.db.sqlite.prepare(
    'INSERT INTO records (schema_id, id, data, created_at, updated_at) VALUES (?, ?, ?, 0, 0)',
  )
  app.ctx.db.sqlite.transaction(() => {
    for (let n = 0; n < count; n++)
      insert.run(schemaId, app.ctx.newId(), JSON.stringify({ n, text, odd: n % 2 === 1, any: null }))
  })()
  return schemaId
}

test('a list of JSON has room for so many bytes, with brackets and commas', () => {
  const list = new JsonList(9)
  expect([list.add('"ü"'), list.add('1'), list.add('2'), list.add('1')]).toEqual([true, true, false, false])
  expect([String(list), Buffer.byteLength(String(list))]).toEqual(['["ü",1]', 8])
  const first = new JsonList(4)
  expect([first.addOrFirst('"long"'), first.addOrFirst('1')]).toEqual([true, false])
  expect(String(first)).toBe('["long"]')
})

describe('MAX_RECORD_BYTES', () => {
  const SPENT = JSON.stringify({ n: 1, text: '', odd: null, any: null }).length

  test('counts the fields as JSON in UTF-8, when they are made and when they are changed', async () => {
    const schemaId = app.addSchema('bounded', [...FIELDS])
    const fits = { n: 1, text: 'x'.repeat(2 * MIB - SPENT) }
    const record = await addRecord(app.ctx, grant(), schemaId, fits)
    const over = 'x'.repeat(2 * MIB - SPENT + 1)
    const refused = [413, 'RECORD_TOO_LARGE', expect.stringMatching(/2097153.*2097152/)]
    expect(await codeOf(addRecord(app.ctx, grant(), schemaId, { n: 1, text: over }))).toEqual(refused)
    expect(await codeOf(changeRecord(app.ctx, grant(), schemaId, record.id, { text: over }))).toEqual(refused)
    for (const text of [
      filler('ü', 2 * MIB),
      filler('"', MIB),
      filler('\u0000', MIB / 2),
      filler('😀', 2 * MIB),
    ])
      expect((await codeOf(addRecord(app.ctx, grant(), schemaId, { text })))?.[1]).toBe('RECORD_TOO_LARGE')
    expect(app.stored(schemaId)).toHaveLength(1)
    expect(getRecord(app.ctx, grant(), schemaId, record.id)['text']).toBe(fits.text)
  })

  test('holds in pipelines, which say the step', async () => {
    const schemaId = app.addSchema('piped', [...FIELDS])
    const small = await addRecord(app.ctx, grant(), schemaId, { n: 1 })
    const fields = { text: 'request.body.text' }
    const json = { text: 'x'.repeat(3 * MIB) }
    for (const one of [
      step('s', 'data_create', { schemaId, fields }),
      step('s', 'data_update', { schemaId, fields, recordId: small.id }),
      step('s', 'data_update', { schemaId, fields, filters: { n: { op: 'eq', value: 1 } } }),
    ])
      expect(await app.answer([one], { json })).toMatchObject({
        status: 413,
        body: { error: 'RECORD_TOO_LARGE', step: 's' },
      })
    expect(app.stored(schemaId)).toEqual([{ n: 1, text: null, odd: null, any: null }])
  })

  test('larger ones of before stay readable, can become smaller, and can be deleted', async () => {
    const schemaId = schemaWith('before', 1, 9 * MIB)
    const { data } = await listRecords(app.ctx, grant(), schemaId, {}, [])
    const id = data[0]?.id ?? ''
    expect(getRecord(app.ctx, grant(), schemaId, id)['text']).toHaveLength((9 * MIB) / 2)
    expect((await codeOf(changeRecord(app.ctx, grant(), schemaId, id, { n: 5 })))?.[0]).toBe(413)
    expect(await changeRecord(app.ctx, grant(), schemaId, id, { text: 'small' })).toMatchObject({
      n: 0,
      text: 'small',
    })
    await removeRecord(app.ctx, grant(), schemaId, id)
    expect(app.stored(schemaId)).toEqual([])
  })
})

describe('pages', () => {
  const sizeOf = (data: unknown) => Buffer.byteLength(JSON.stringify(data))

  test.each<[count: number, bytes: number, query: Record<string, string>]>([
    [10, 2 * MIB, { limit: '100' }],
    [3, 9 * MIB, { limit: '3', sort: 'n', order: 'asc' }],
    [23, MIB, { limit: '20', sort: 'n', order: 'desc' }],
    [20, MIB, { limit: '100', sort: 'createdAt', order: 'asc' }],
  ])(
    '%d records of %d bytes in pages of %j: nextOffset leads through all of them',
    async (count, bytes, query) => {
      const schemaId = schemaWith(`pages ${count} ${bytes}`, count, bytes)
      const seen: unknown[] = []
      let offset = 0
      for (let pages = 0; seen.length < count; pages++) {
        expect(pages).toBeLessThan(count)
        const { data, pagination } = await listRecords(
          app.ctx,
          grant(),
          schemaId,
          { ...query, ...(offset === 0 ? {} : { offset: String(offset) }) },
          [],
        )
        seen.push(...data.map(({ n }) => n))
        offset += data.length
        expect(data.length).toBeGreaterThan(0)
        if (data.length > 1) expect(sizeOf(data)).toBeLessThanOrEqual(MAX_LIST_BYTES)
        const isWhole = data.length === Math.min(Number(query['limit']), count - (offset - data.length))
        const more = isWhole ? {} : { truncated: true as const, nextOffset: offset }
        const limit = Number(query['limit'])
        const page = Math.floor((offset - data.length) / limit) + 1
        expect(pagination).toEqual({ page, limit, total: count, pages: Math.ceil(count / limit), ...more })
      }
      const up = Array.from({ length: count }, (_, n) => n)
      expect(seen).toEqual(query['order'] === 'asc' ? up : up.toReversed())
    },
  )

  test('keep their filters, and `offset` goes over `page`', async () => {
    const schemaId = schemaWith('filtered', 14, 2 * MIB)
    const odd = [{ field: 'odd', op: 'eq', value: 'true' }] as const
    const order = { sort: 'n', order: 'asc' }
    const first = await listRecords(app.ctx, grant(), schemaId, order, odd)
    expect(first.data.map(({ n }) => n)).toEqual([1, 3, 5])
    expect(first.pagination).toEqual({
      page: 1,
      limit: 20,
      total: 7,
      pages: 1,
      truncated: true,
      nextOffset: 3,
    })
    const next = await listRecords(app.ctx, grant(), schemaId, { ...order, page: '9', offset: '3' }, odd)
    expect(next.data.map(({ n }) => n)).toEqual([7, 9, 11])
    expect((await listRecords(app.ctx, grant(), schemaId, { offset: '99' }, odd)).data).toEqual([])
  })

  test.each(['-1', '1.5', 'x', '1e3', '99999999999999999'])('offset %s is 400', async (offset) => {
    const schemaId = app.addSchema(`offset ${offset.length} ${offset}`.replace(/[^a-z0-9 ]/g, '_'), [
      ...FIELDS,
    ])
    const refused = await codeOf(listRecords(app.ctx, grant(), schemaId, { offset }, []))
    expect(refused).toEqual([400, 'Bad Request', 'offset must be a whole number from 0'])
  })

  test('over HTTP a record over the bound is RECORD_TOO_LARGE, not a body that is too large', async () => {
    const schemaId = app.addSchema('http bound', [...FIELDS])
    const path = `/api/schemas/${schemaId}/records`
    const answer = await app.call('POST', path, {
      as: 'ann@example.com',
      json: { text: 'x'.repeat(9 * MIB) },
    })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ error: 'RECORD_TOO_LARGE' })
    const fits = await app.call('POST', path, {
      as: 'ann@example.com',
      json: { text: 'x'.repeat(1.9 * MIB) },
    })
    expect(fits.status).toBe(201)
  })

  test('over HTTP: the fields are there only when there is more', async () => {
    const schemaId = schemaWith('http', 5, 2 * MIB)
    const list = async (query: string) =>
      (await app.call('GET', `/api/schemas/${schemaId}/records${query}`, { as: 'ann@example.com' })).json()
    const { data, pagination } = await list('?limit=10')
    expect(data).toHaveLength(3)
    expect(pagination).toEqual({ page: 1, limit: 10, total: 5, pages: 1, truncated: true, nextOffset: 3 })
    const rest = await list('?limit=10&offset=3')
    expect(rest.data).toHaveLength(2)
    expect(rest.pagination).toEqual({ page: 1, limit: 10, total: 5, pages: 1 })
    expect(await list('?offset=-1')).toMatchObject({ statusCode: 400, details: [{ path: 'offset' }] })
  })
})

describe('data_query', () => {
  const query = async (config: Record<string, unknown>, json: unknown = {}) => {
    const { status, body } = await app.answer([step('q', 'data_query', config)], { json })
    return { status, ...(body as { error?: string; message?: string; data?: Record<string, unknown>[] }) }
  }

  test('more than 8 MiB after `select` is QUERY_TOO_LARGE', async () => {
    const schemaId = schemaWith('queried', 20, MIB)
    const large = { status: 500, error: 'QUERY_TOO_LARGE', step: 'q' }
    for (const more of [
      {},
      { orderBy: { field: 'n' } },
      { filters: { odd: { op: 'eq', value: true } } },
      { limit: 8 },
    ])
      expect(await query({ schemaId, ...more })).toMatchObject(large)
    expect((await query({ schemaId, limit: 7 })).data).toHaveLength(7)
    expect((await query({ schemaId, select: ['n'] })).data).toHaveLength(20)
    expect(await query({ schemaId, select: ['n', 'text'] })).toMatchObject(large)
    const bare = await query({
      schemaId,
      select: ['n', 'none'],
      limit: 2,
      orderBy: { field: 'n', direction: 'asc' },
    })
    expect(bare.data).toEqual([
      { n: 0, none: null },
      { n: 1, none: null },
    ])
  })

  test('the same holds of one record', async () => {
    const schemaId = schemaWith('single', 1, 9 * MIB)
    const recordId = (await listRecords(app.ctx, grant(), schemaId, {}, [])).data[0]?.id
    for (const more of [{ recordId: `'${recordId}'` }, { single: true }]) {
      expect(await query({ schemaId, ...more })).toMatchObject({ status: 500, error: 'QUERY_TOO_LARGE' })
      expect(await query({ schemaId, ...more, select: ['n'] })).toMatchObject({ status: 200, data: { n: 0 } })
    }
  })

  test('10000 records are returned, and more are never cut in silence', async () => {
    const schemaId = schemaWith('many', 10_001, 2)
    for (const key of ['limit', 'pageSize']) {
      expect((await query({ schemaId, [key]: 10_000, select: ['n'] })).data).toHaveLength(10_000)
      for (const more of [10_001, 'request.body.n'])
        expect(await query({ schemaId, [key]: more }, { n: '10001' })).toMatchObject({
          status: 400,
          message: `${key} must be at most 10000`,
        })
    }
    expect((await query({ schemaId, pageSize: 10_000, page: 2 })).data).toHaveLength(1)
  })
})

test('a sort holds no more of a text than its beginning', () => {
  const { fields } = findSchemaOf(app.ctx, app.projectId, app.addSchema('sorted', [...FIELDS])) ?? {
    fields: [],
  }
  const { sqlite } = app.ctx.db
  const keyOf = (field: string, record: unknown) => {
    const { key } = orderOf(fields, field, 'asc')
    const sql = `SELECT ${key.sql} AS key FROM (SELECT ? AS data)`
    return sqlite
      .query<{ key: unknown }, (string | number | null)[]>(sql)
      .get(...key.values, JSON.stringify(record))?.key
  }
  const long = 'ü'.repeat(5000)
  expect(keyOf('text', { text: long })).toBe(long.slice(0, 1000))
  expect(keyOf('any', { any: long })).toBe(long.slice(0, 1000))
  expect([
    keyOf('any', { any: 5.5 }),
    keyOf('n', { n: 7 }),
    keyOf('odd', { odd: true }),
    keyOf('text', {}),
  ]).toEqual([5.5, 7, 1, null])
})

test('data_update lists what fits into 8 MiB, and counts all', async () => {
  const schemaId = schemaWith('updated', 20, MIB)
  const all = { n: { op: 'gte', value: 0 } }
  const update = (filters: unknown) =>
    app.answer([step('u', 'data_update', { schemaId, filters, fields: { odd: true } })], { json: {} })
  const { body } = (await update(all)) as { body: { data: Record<string, unknown> } }
  expect(body.data).toMatchObject({ count: 20, truncated: true })
  expect(body.data['updated']).toHaveLength(7)
  expect(app.stored(schemaId).every(({ odd }) => odd === true)).toBe(true)
  const few = (await update({ n: { op: 'lt', value: 3 } })) as { body: { data: Record<string, unknown> } }
  expect(few.body.data['updated']).toHaveLength(3)
  expect(Object.keys(few.body.data)).toEqual(['count', 'updated'])
})
