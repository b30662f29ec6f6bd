import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { SchemaField } from '../../domain/schema-fields.ts'
import { type PipelineApp, pipelineApp, step } from '../../testing/pipeline-app.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp({ MAX_RECORD_BYTES: '2048' })
})
afterAll(() => app.close())

const FIELDS: Partial<SchemaField>[] = [
  { name: 'guid', type: 'string' },
  { name: 'title', type: 'string', required: true },
  { name: 'note', type: 'text' },
  { name: 'size', type: 'integer' },
  { name: 'seen', type: 'datetime' },
  { name: 'slug', type: 'string' },
]
const MAP = {
  title: 'steps.item.title',
  note: 'steps.item.note',
  size: 'steps.item.size',
  slug: 'steps.item.slug',
}

let made = 0
/** A schema, with and without an index of its keys. */
function schemaOf(isUnique: boolean, more: Partial<SchemaField> = {}): { name: string; id: string } {
  made += 1
  const name = `items ${made}`
  const fields = FIELDS.map((field) => {
    const unique = isUnique && field.name === 'guid' ? { unique: true } : {}
    return field.name === more.name ? { ...field, ...more } : { ...field, ...unique }
  })
  return { name, id: app.addSchema(name, fields) }
}

const upsert = (name: string, config: Record<string, unknown> = {}) =>
  step('kept', 'data_upsert_many', {
    schemaId: `$schema:${name}`,
    items: 'request.body.items',
    map: MAP,
    dedupField: 'guid',
    dedupKey: ['steps.item.guid', 'steps.item.link'],
    ...config,
  })

type Output = {
  inserted: number
  updated: number
  skipped: number
  errored: number
  total: number
  insertedIds: string[]
  updatedIds: string[]
  errors: { index: number; error: string }[]
}
async function run(name: string, items: unknown, config: Record<string, unknown> = {}): Promise<Output> {
  const { status, body } = await app.answer([upsert(name, config)], { json: { items } })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return (body as { data: Output }).data
}
const counts = ({ inserted, updated, skipped, errored, total }: Output) => [
  inserted,
  updated,
  skipped,
  errored,
  total,
]

describe.each([
  ['with an index', true],
  ['without', false],
])('keys %s', (_, isUnique) => {
  test('each is stored once, in one list, over lists and over two runs at once', async () => {
    const { name, id } = schemaOf(isUnique)
    const first = await run(name, [
      { guid: ' a ', title: 'A' },
      { guid: 'a', title: 'again' },
      { guid: '', link: 'b', title: 'B' },
      { link: 7, title: 'C' },
    ])
    expect(counts(first)).toEqual([3, 0, 1, 0, 4])
    expect(first.insertedIds).toHaveLength(3)
    expect(first.updatedIds).toEqual([])
    expect(app.stored(id).map(({ guid, title }) => [guid, title])).toEqual([
      ['7', 'C'],
      ['b', 'B'],
      ['a', 'A'],
    ])
    const list = ['a', 'b', 'c', 'd'].map((guid) => ({ guid, title: guid }))
    const both = await Promise.all([run(name, list), run(name, list)])
    expect(both.map(counts)).toEqual([
      [2, 0, 2, 0, 4],
      [0, 0, 4, 0, 4],
    ])
    expect(app.stored(id)).toHaveLength(5)
  })

  test('only the fields to update change, and only where they differ', async () => {
    const { name, id } = schemaOf(isUnique)
    const before = { title: 'A', note: 'old', size: 1, slug: 'a' }
    await run(name, [
      { guid: 'a', ...before },
      { guid: 'b', ...before },
      { guid: 'c', ...before },
    ])
    const updateFields = ['note', 'size']
    const changed = await run(
      name,
      [
        { guid: 'a', title: 'X', note: 'new', size: '1', slug: 'x' },
        { guid: 'b', title: 'X', note: null },
        { guid: 'c', title: 'X', note: 'old', size: '1' },
        { guid: 'd', title: 'D' },
      ],
      { updateFields },
    )
    expect(counts(changed)).toEqual([1, 2, 1, 0, 4])
    expect(changed.updatedIds).toHaveLength(2)
    const rest = { seen: null }
    expect(app.stored(id)).toEqual([
      { guid: 'd', title: 'D', note: null, size: null, slug: null, ...rest },
      { guid: 'c', ...before, ...rest },
      { guid: 'b', ...before, note: null, ...rest },
      { guid: 'a', ...before, note: 'new', ...rest },
    ])
  })

  test('an element that is refused leaves nothing, is named by its index, and the others are stored', async () => {
    const { name, id } = schemaOf(isUnique, { name: 'slug', unique: true })
    const { errors, ...rest } = await run(name, [
      { guid: 'a', title: 'A', slug: 'same' },
      { guid: 'b' },
      { guid: 'c', title: 'C', slug: 'same' },
      { guid: 'd', title: 'D', size: 'large' },
      { guid: 'e', title: 'E', note: 'x'.repeat(3000) },
      'no object',
      { guid: 'b', title: 'B' },
    ])
    expect(counts({ errors, ...rest })).toEqual([2, 0, 0, 5, 7])
    expect(errors).toEqual([
      { index: 1, error: 'title is required' },
      { index: 2, error: 'There is already a record with this slug' },
      { index: 3, error: 'size must be a whole number' },
      { index: 4, error: expect.stringContaining('2048') },
      { index: 5, error: 'title is required' },
    ])
    expect(app.stored(id).map(({ guid }) => guid)).toEqual(['b', 'a'])
    const clash = await run(name, [{ guid: 'b', slug: 'same' }], { updateFields: ['slug'] })
    expect(clash.errors).toEqual([{ index: 0, error: 'There is already a record with this slug' }])
    expect(app.stored(id)[0]).toMatchObject({ guid: 'b', slug: null })
  })
})

test('of an element without a key the hash of the record is the key', async () => {
  const { name, id } = schemaOf(true)
  const items = [{ title: 'A', note: null }, { note: null, title: 'A' }, { title: 'B' }]
  expect(counts(await run(name, items))).toEqual([2, 0, 1, 0, 3])
  const hash = (record: string) => `hash:${createHash('sha256').update(record).digest('hex')}`
  expect(app.stored(id).map(({ guid }) => guid)).toEqual([
    hash('{"title":"B"}'),
    hash('{"note":null,"title":"A"}'),
  ])
})

test('an element is seen by every expression, worked out once, beside the rest of the run', async () => {
  const { name, id } = schemaOf(true)
  const map = {
    title: '{{steps.item.title}} of {{request.method}}',
    note: 'uuid()',
    slug: 'steps.before.tag',
    seen: 'now()',
  }
  const before = step('before', 'function_handler', { code: 'const handler = () => ({ tag: "t" })' })
  const config = { map, dedupKey: 'uuid()', items: 'request.body' }
  const { body } = await app.answer([before, upsert(name, config)], {
    json: [{ title: 'A' }, { title: 'B' }],
  })
  expect((body as { data: Output }).data).toMatchObject({ inserted: 2 })
  const stored = app.stored(id)
  expect(stored.map(({ title, slug }) => [title, slug])).toEqual([
    ['B of POST', 't'],
    ['A of POST', 't'],
  ])
  expect(new Set(stored.flatMap(({ guid, note }) => [guid, note])).size).toBe(4)
})

test('a key is kept in the type of its field', async () => {
  const id = app.addSchema('numbered', [{ name: 'n', type: 'integer', unique: true }])
  const config = { map: { n: 'null' }, dedupField: 'n', dedupKey: 'steps.item' }
  expect(counts(await run('numbered', ['5', 5, 'five'], config))).toEqual([1, 0, 1, 1, 3])
  expect(counts(await run('numbered', [5], config))).toEqual([0, 0, 1, 0, 1])
  expect(app.stored(id)).toEqual([{ n: 5 }])
})

test.each([
  ['null is an empty list', null, 200, undefined],
  ['a text is none', 'a', 400, 'items must be a list'],
  ['an object is none', {}, 400, 'items must be a list'],
  ['10 001 are too many', Array.from({ length: 10_001 }, () => 1), 400, expect.stringContaining('10000')],
])('%s', async (_, items, expected, message) => {
  const { name, id } = schemaOf(false)
  const { status, body } = await app.answer([upsert(name)], { json: { items } })
  const { data } = body as { data: Output }
  expect([status, (body as { message?: string }).message]).toEqual([expected, message])
  if (status === 200) expect(data).toMatchObject({ inserted: 0, total: 0, insertedIds: [], errors: [] })
  expect(app.stored(id)).toEqual([])
})

test('10 000 elements are stored at once', async () => {
  const { name, id } = schemaOf(true)
  const items = Array.from({ length: 10_000 }, (_, i) => ({ guid: `g${i}`, title: 't' }))
  expect(counts(await run(name, items))).toEqual([10_000, 0, 0, 0, 10_000])
  expect(app.stored(id)).toHaveLength(10_000)
})

test('a template that makes every record huge is 413, or refused for each, and stores nothing', async () => {
  const { name, id } = schemaOf(true)
  const map = { title: '{{request.body.text}}' }
  const json = { items: [{ guid: 'a' }, { guid: 'b' }], text: 'x'.repeat(5000) }
  const { body } = await app.answer([upsert(name, { map })], { json })
  expect((body as { data: Output }).data).toMatchObject({ inserted: 0, errored: 2 })
  expect(app.stored(id)).toEqual([])
})

test('a field that the schema does not have: 500 naming it when it is the key, left out when it is another', async () => {
  const { name, id } = schemaOf(false)
  const wrong = await app.answer([upsert(name, { dedupField: 'nope' })], { json: { items: [] } })
  expect(wrong).toMatchObject({ status: 500, body: { message: expect.stringContaining('nope') } })
  const map = { ...MAP, other: 'steps.item.title' }
  expect(counts(await run(name, [{ guid: 'a', title: 'A' }], { map }))).toEqual([1, 0, 0, 0, 1])
  expect(Object.keys(app.stored(id)[0] ?? {})).not.toContain('other')
})
