import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PIECE } from '../../db/pieces.ts'
import type { SchemaField } from '../../domain/schema-fields.ts'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'

/** More records than two statements change. */
const MANY = 2 * PIECE + 5

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

let schemas = 0
/** A schema with many records `{ number, half }`: each `half` is there twice, far apart. */
function filledSchema(): string {
  const id = app.addSchema(`numbers ${++schemas}`, [
    { name: 'number', type: 'integer', unique: true },
    { name: 'half', type: 'integer' },
  ])
  const numbers = `WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${MANY - 1})`
  const { sqlite } = app.ctx.db
  sqlite
    .query(
      `INSERT INTO records (schema_id, id, data, created_at, updated_at) ${numbers}
       SELECT ?, printf('%08d', i), json_object('number', i, 'half', i % ${(MANY - 1) / 2}), 0, 0 FROM numbers`,
    )
    .run(id)
  sqlite
    .query(
      `INSERT INTO record_uniques ${numbers} SELECT ?, 'number', cast(i AS TEXT), printf('%08d', i) FROM numbers`,
    )
    .run(id)
  return id
}

const change = async (id: string, fields: Partial<SchemaField>[]) => {
  const answer = await app.call('PATCH', `/api/schemas/${id}`, { as: 'ann@example.com', json: { fields } })
  return { status: answer.status, text: await answer.text() }
}
const countOf = (table: string, id: string) =>
  app.ctx.db.sqlite
    .query<{ n: number }, [string]>(`SELECT count(*) AS n FROM ${table} WHERE schema_id = ?`)
    .get(id)?.n

const NUMBER = { name: 'number', type: 'integer' } as const
const HALF = { name: 'half', type: 'integer' } as const

test('fields are added to and removed from every record', async () => {
  const id = filledSchema()
  const added = await change(id, [
    { ...NUMBER, unique: true },
    { name: 'city', type: 'string', default: 'Bern' },
  ])
  expect(added.status).toBe(200)
  const all = app.ctx.db.sqlite
    .query<{ data: string }, [string]>('SELECT data FROM records WHERE schema_id = ? ORDER BY id')
    .all(id)
  expect(all.map(({ data }) => JSON.parse(data))).toEqual(
    Array.from({ length: MANY }, (_, number) => ({ number, city: 'Bern' })),
  )
})

test('a field stops being unique, and becomes unique again, for every record', async () => {
  const id = filledSchema()
  expect((await change(id, [NUMBER, HALF])).status).toBe(200)
  expect(countOf('record_uniques', id)).toBe(0)
  expect((await change(id, [{ ...NUMBER, unique: true }, HALF])).status).toBe(200)
  expect(countOf('record_uniques', id)).toBe(MANY)
})

test('equal values are found however far apart their records are, and nothing changes', async () => {
  const id = filledSchema()
  const refused = await change(id, [NUMBER, { ...HALF, unique: true }, { name: 'city', type: 'string' }])
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('half cannot become unique')])
  expect(countOf('record_uniques', id)).toBe(MANY)
  const withCity = app.ctx.db.sqlite.query("SELECT 1 FROM records WHERE schema_id = ? AND data LIKE '%city%'")
  expect(withCity.get(id)).toBeNull()
})

test('a schema is deleted with every record, and no other', async () => {
  const [id, other] = [filledSchema(), filledSchema()]
  const answer = await app.call('DELETE', `/api/schemas/${id}`, { as: 'ann@example.com' })
  expect(answer.status).toBe(204)
  expect([countOf('records', id), countOf('record_uniques', id)]).toEqual([0, 0])
  expect([countOf('records', other), countOf('record_uniques', other)]).toEqual([MANY, MANY])
})
