import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import type { SchemaField } from '../../domain/schema-fields.ts'
import { type PipelineApp, pipelineApp, step } from '../../testing/pipeline-app.ts'
import { operatorGrant } from '../auth/authorize.ts'
import { deleteSchema, findSchemaOf, type Schema } from '../schemas/service.ts'
import { readAggregate } from './aggregate.ts'
import { exportRecords } from './export.ts'
import { listRecords } from './manage.ts'
import { listMatchingIds, listRecordRows, type RecordRow, recordAggregate, recordCount } from './queries.ts'
import { readCount, readIds, takeRows } from './reads.ts'
import { isSmall, WINDOW, windowsOf } from './scan.ts'
import {
  aggregateRecords,
  createRecord,
  deleteRecords,
  type Filter,
  type FilterLogic,
  queryRecordsJson,
  updateRecords,
} from './service.ts'
import { columnOf, NEWEST_FIRST, orderOf, whereOf } from './where.ts'

const AGGREGATES = [
  ['count', 'count', 'word'],
  ['sum', 'total', 'amount'],
  ['avg', 'avg', 'amount'],
  ['min', 'min', 'any'],
  ['max', 'max', 'word'],
] as const

/** A schema of more than two windows gives the same as one statement would. */

const FIELDS: Partial<SchemaField>[] = [
  { name: 'email', type: 'email', unique: true },
  { name: 'number', type: 'integer', unique: true },
  { name: 'word', type: 'string' },
  { name: 'amount', type: 'number' },
  { name: 'isOpen', type: 'boolean' },
  { name: 'any', type: 'json' },
]
const WORDS = ['new', 'New', 'é', '', 'Zoë', '\uffee', '😀', 'open', null, 'a\u0000b', '10', '9']
const ANY = [1, 'text', null, [2], { a: 1 }, true, 0.5, '1']
const RECORDS = 2 * WINDOW + 700

let app: PipelineApp
let schema: Schema
beforeAll(async () => {
  app = await pipelineApp({}, { isOnDisk: true })
  schema = madeSchema('large')
  fill(schema, RECORDS)
})
afterAll(() => app.close())

const db = () => app.ctx.db

/** By one statement on this thread. */
function countAtOnce(schemaId: string, where: Parameters<typeof recordCount>[1]): number {
  const { sql, values } = recordCount(schemaId, where)
  return prepared<{ n: number }>(db(), sql).get(...values)?.n ?? -1
}

function madeSchema(name: string): Schema {
  const id = app.addSchema(name, FIELDS)
  const made = findSchemaOf(app.ctx, app.projectId, id)
  if (made === undefined) throw new Error('no schema')
  return made
}

const dataOf = (i: number) => ({
  email: `person${i}@example.com`,
  number: i,
  word: WORDS[(i * 7) % WORDS.length] ?? null,
  amount: i % 13 === 0 ? null : ((i * 37) % 101) / 4,
  isOpen: i % 3 === 0,
  any: ANY[i % ANY.length],
})

const idOf = (i: number) => `01a2051a-0000-7000-8000-${String(i).padStart(12, '0')}`

function fill({ id }: Schema, count: number): void {
  const { sqlite } = db()
  const record = sqlite.prepare('INSERT INTO records VALUES (NULL, ?, ?, ?, ?, ?)')
  const unique = sqlite.prepare('INSERT INTO record_uniques VALUES (?, ?, ?, ?)')
  sqlite.transaction(() => {
    for (let i = 0; i < count; i++) {
      const data = dataOf(i)
      record.run(id, idOf(i), JSON.stringify(data), i, i * 2)
      unique.run(id, 'email', JSON.stringify(data.email), idOf(i))
      unique.run(id, 'number', String(i), idOf(i))
    }
  })()
}

const CONDITIONS: [Filter[], FilterLogic?][] = [
  [[]],
  [[{ field: 'word', op: 'eq', value: 'new' }]],
  [[{ field: 'word', op: 'eq', value: null }]],
  [[{ field: 'word', op: 'eq', value: 'nothing' }]],
  [[{ field: 'number', op: 'lt', value: 3 }]],
  [[{ field: 'number', op: 'in', value: [1999, 2000, 2699, 2700, 4699, 0] }]],
  [
    [
      { field: 'isOpen', op: 'eq', value: true },
      { field: 'amount', op: 'gte', value: 20 },
    ],
  ],
  [
    [
      { field: 'email', op: 'eq', value: 'person3@example.com' },
      { field: 'number', op: 'eq', value: 4 },
    ],
    'or',
  ],
]
const ORDERS = ['createdAt', 'id', 'updatedAt', 'word', 'amount', 'isOpen', 'any'].flatMap((field) =>
  (['asc', 'desc'] as const).map((direction) => ({ field, direction })),
)
const PAGES = [
  { limit: 10, offset: 0 },
  { limit: 150, offset: 1900 },
  { limit: 100, offset: RECORDS - 50 },
  { limit: 5, offset: RECORDS + 50 },
]

const text = (value: unknown): string => JSON.stringify(value)

async function rowsOf(read: Parameters<typeof takeRows>[1]): Promise<RecordRow[]> {
  const rows: RecordRow[] = []
  await takeRows(db(), read, (row) => rows.push(row) > 0)
  return rows
}

describe.each(CONDITIONS)('records of %j', (filters, logic = 'and') => {
  const where = () => whereOf(schema, filters, logic)

  test('rows in every order and on every page', async () => {
    for (const { field, direction } of ORDERS) {
      const order = orderOf(schema.fields, field, direction)
      for (const page of PAGES)
        expect(text(await rowsOf({ schemaId: schema.id, where: where(), order, window: page }))).toBe(
          text(listRecordRows(db(), schema.id, where(), order, page)),
        )
    }
  })

  test('their number and ids', async () => {
    expect(await readCount(db(), schema.id, where())).toBe(countAtOnce(schema.id, where()))
    expect(await readIds(db(), schema.id, where())).toEqual(listMatchingIds(db(), schema.id, where()))
  })

  test('aggregates, with groups and without', async () => {
    const groups = [null, ...['word', 'any', 'amount'].map((one) => columnOf(schema.fields, one))]
    for (const [operation, name, field] of AGGREGATES)
      for (const group of groups) {
        const column = columnOf(schema.fields, field)
        const measure = { sql: `${name}(${column.sql})`, values: column.values }
        const rows = await readAggregate(db(), schema.id, where(), { operation, column }, group)
        const { sql, values } = recordAggregate(schema.id, where(), measure, group)
        expect(text(rows)).toBe(
          text(
            db()
              .sqlite.prepare(sql)
              .all(...values),
          ),
        )
      }
  })
})

test('an export has every record once, and those of a filter', async () => {
  const grant = operatorGrant(app.projectId)
  const exported = async (filters: Filter[]): Promise<{ id: string }[]> =>
    (await exportRecords(app.ctx, grant, schema.id, { format: 'json' }, filters)).json()
  const all = await exported([])
  expect(all.map(({ id }) => id)).toEqual(Array.from({ length: RECORDS }, (_, i) => idOf(RECORDS - 1 - i)))
  const oldest = await exported([{ field: 'number', op: 'lt', value: 2 }])
  expect(oldest.map(({ id }) => id)).toEqual([idOf(1), idOf(0)])
})

test('an export of a schema that is deleted meanwhile does not look whole', async () => {
  const large = madeSchema('leaving')
  fill(large, RECORDS)
  const answer = exportRecords(app.ctx, operatorGrant(app.projectId), large.id, { format: 'json' }, [])
  const reader = answer.body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  await deleteSchema(app.ctx, operatorGrant(app.projectId), large.id)
  const rest = async () => {
    while ((await reader?.read())?.done === false);
  }
  await expect(rest()).rejects.toThrow()
})

test('an export ends with the right to read', async () => {
  const large = madeSchema('shown')
  fill(large, RECORDS)
  const vic = await app.addUser('vic@example.com')
  const role = (run: string) =>
    inTransaction(app.ctx.db, () => void app.ctx.db.sqlite.run(run, [app.projectId, vic]))
  role("INSERT INTO permissions VALUES (?, ?, 'viewer', 0)")
  const answer = await app.call('GET', `/api/schemas/${large.id}/records/export?format=json`, {
    as: 'vic@example.com',
  })
  const reader = answer.body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  role('DELETE FROM permissions WHERE project_id = ? AND user_id = ?')
  const rest = async () => {
    while ((await reader?.read())?.done === false);
  }
  await expect(rest()).rejects.toThrow()
})

test('the first of an order is found while others take it', async () => {
  const large = madeSchema('queue')
  fill(large, RECORDS)
  const filters: Filter[] = [{ field: 'isOpen', op: 'eq', value: true }]
  const orderBy = { field: 'number', direction: 'desc' } as const
  const query = { filters, logic: 'and', orderBy, limit: 1, offset: 0 } as const
  for (let round = 0; round < 20; round++) {
    const asked = queryRecordsJson(app.ctx, large, query)
    const [top = ''] = listMatchingIds(db(), large.id, whereOf(large, filters, 'and'))
    await updateRecords(app.ctx, large, { recordId: top }, { isOpen: false })
    expect(JSON.parse(await asked)).toHaveLength(1)
  }
})

test('lists, queries and aggregates see a record as soon as it is stored', async () => {
  const large = madeSchema('written')
  fill(large, WINDOW + 1)
  const filters: Filter[] = [{ field: 'word', op: 'eq', value: 'fresh' }]
  const query = { filters, logic: 'and', orderBy: null, limit: 10, offset: 0 } as const
  const seen = async () => [
    (await listRecords(app.ctx, operatorGrant(app.projectId), large.id, {}, filters)).pagination.total,
    JSON.parse(await queryRecordsJson(app.ctx, large, query)).length,
    await aggregateRecords(app.ctx, large, { ...query, operation: 'count', field: null, groupBy: null }),
  ]
  expect(await seen()).toEqual([0, 0, 0])
  const { id } = await createRecord(app.ctx, large, { word: 'fresh' })
  expect(await seen()).toEqual([1, 1, 1])
  await updateRecords(app.ctx, large, { recordId: id }, { word: 'stale' })
  expect(await seen()).toEqual([0, 0, 0])
  await updateRecords(app.ctx, large, { recordId: id }, { word: 'fresh' })
  expect(await seen()).toEqual([1, 1, 1])
  await deleteRecords(app.ctx, large, { recordId: id })
  expect(await seen()).toEqual([0, 0, 0])
})

test('steps of a pipeline take what a large schema has', async () => {
  const filters = { number: { op: 'lt', value: 3 } }
  const output = async (config: Record<string, unknown>) =>
    dataOfAnswer([step('s', 'data_query', { schemaId: schema.id, filters, ...config })])
  expect(await output({})).toMatchObject([2, 1, 0].map((i) => ({ id: idOf(i), number: i })))
  expect(await output({ select: ['number'], orderBy: { field: 'number', direction: 'asc' } })).toEqual(
    [0, 1, 2].map((number) => ({ number })),
  )
  expect(await output({ single: true })).toMatchObject({ number: 2 })
  const config = { schemaId: schema.id, filters, operation: 'sum', field: 'number' }
  expect(await dataOfAnswer([step('s', 'aggregate_handler', config)])).toBe(3)
})

async function dataOfAnswer(steps: Parameters<PipelineApp['answer']>[0]): Promise<unknown> {
  const { body } = await app.answer(steps)
  return Object(body).data
}

test('while others write, a scan sees each record that stays exactly once', async () => {
  const large = madeSchema('busy')
  fill(large, RECORDS)
  const seen: string[] = []
  let windows = 0
  for await (const part of windowsOf(db(), large.id, whereOf(large, [], 'and'))) {
    seen.push(...listMatchingIds(db(), large.id, part))
    // One of the next window, one of the last, and a new one.
    const gone = [WINDOW - 500 * windows, windows].map(idOf)
    for (const recordId of gone) await deleteRecords(app.ctx, large, { recordId })
    await createRecord(app.ctx, large, { word: 'late' })
    windows += 1
  }
  expect(windows).toBeGreaterThan(2)
  expect(new Set(seen).size).toBe(seen.length)
  const left = listMatchingIds(
    db(),
    large.id,
    whereOf(large, [{ field: 'word', op: 'ne', value: 'late' }], 'and'),
  )
  expect(left.filter((id) => !seen.includes(id))).toEqual([])
})

test('nothing is read after the last row that was wanted, on every way of reading', async () => {
  const none = whereOf(schema, [], 'and')
  const scan = whereOf(schema, [{ field: 'isOpen', op: 'eq', value: true }], 'and')
  const index = whereOf(
    schema,
    [{ field: 'id', op: 'in', value: [idOf(1), idOf(2), idOf(3), idOf(4)] }],
    'and',
  )
  const byWord = orderOf(schema.fields, 'word', 'asc')
  for (const [where, order, offset] of [
    [none, NEWEST_FIRST, 0],
    [none, NEWEST_FIRST, WINDOW + 1],
    [none, byWord, 0],
    [scan, NEWEST_FIRST, 0],
    [scan, byWord, 3],
    [index, NEWEST_FIRST, 0],
  ] as const) {
    const seen: RecordRow[] = []
    const window = { limit: 100, offset }
    await takeRows(db(), { schemaId: schema.id, where, order, window }, (row) => seen.push(row) < 3)
    expect(seen).toEqual(listRecordRows(db(), schema.id, where, order, { limit: 3, offset }))
  }
})

describe('writes by a filter of a large schema', () => {
  test('change all that match, and again those that match no more', async () => {
    const large = madeSchema('changed')
    fill(large, RECORDS)
    const open: Filter[] = [{ field: 'isOpen', op: 'eq', value: true }]
    const take = () => updateRecords(app.ctx, large, { filters: open }, { isOpen: false }, { amount: 1 })
    const [first, second] = await Promise.all([take(), take()])
    expect(first.count).toBe(Math.ceil(RECORDS / 3))
    expect(first.updated).toHaveLength(first.count)
    expect(second).toEqual({ count: 0, updated: [] })
    const closed: Filter[] = [{ field: 'isOpen', op: 'eq', value: false }]
    const deleted = await deleteRecords(app.ctx, large, { filters: closed })
    expect(deleted).toHaveLength(RECORDS)
    expect(countAtOnce(large.id, whereOf(large, [], 'and'))).toBe(0)
  })

  test('do not touch a record that stopped matching meanwhile', async () => {
    const large = madeSchema('meanwhile')
    fill(large, RECORDS)
    const filters: Filter[] = [{ field: 'word', op: 'eq', value: 'open' }]
    const ids = listMatchingIds(db(), large.id, whereOf(large, filters, 'and'))
    const [newest = ''] = ids
    const deleting = deleteRecords(app.ctx, large, { filters })
    await updateRecords(app.ctx, large, { recordId: newest }, { word: 'kept' })
    expect(await deleting).toEqual(ids.slice(1))
  })
})

test('a record of a unique value is found by its index', async () => {
  expect(isSmall(db(), schema.id)).toBe(false)
  const email = { field: 'email', op: 'eq', value: 'person77@example.com' } as const
  for (const filters of [[email], [{ field: 'number', op: 'eq', value: '77' } as const, email]]) {
    const where = whereOf(schema, filters, 'and')
    expect(where.reach).toBe('index')
    const rows = await rowsOf({
      schemaId: schema.id,
      where,
      order: NEWEST_FIRST,
      window: { limit: 10, offset: 0 },
    })
    expect(rows.map(({ id }) => id)).toEqual([idOf(77)])
  }
  expect(whereOf(schema, [email, { field: 'word', op: 'eq', value: 'new' }], 'or').reach).toBe('scan')
  const other = whereOf(schema, [email, { field: 'number', op: 'eq', value: 78 }], 'and')
  const closed = whereOf(schema, [email, { field: 'isOpen', op: 'eq', value: true }], 'and')
  expect(closed.reach).toBe('index')
  expect([other, closed].map((where) => countAtOnce(schema.id, where))).toEqual([0, 0])
})
