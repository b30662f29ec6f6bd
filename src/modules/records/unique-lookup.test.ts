import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'
import { operatorGrant } from '../auth/authorize.ts'
import { changeSchema, findSchemaOf } from '../schemas/service.ts'
import { listMatchingIds } from './queries.ts'
import { createRecord, type Filter } from './service.ts'
import { whereOf } from './where.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const db = () => app.ctx.db

describe('the index of unique values', () => {
  const values = [
    'a',
    'A',
    ' a',
    '\u00e9',
    'e\u0301',
    '"',
    '\\',
    '/',
    '\n',
    '\u0000',
    'a\u0000',
    '\ud800',
    '\ufffd',
    '😀',
    '',
    '1',
    '1.0',
    'true',
    'null',
    '<',
  ]
  const numbers = [0, -1, 1, 10, 2 ** 31, Number.MAX_SAFE_INTEGER]
  const fields = [
    { name: 'text', type: 'string', unique: true },
    { name: 'whole', type: 'integer', unique: true },
    { name: 'half', type: 'number', unique: true },
    { name: 'day', type: 'datetime', unique: true },
    { name: 'late', type: 'text' },
  ] as const

  test('finds the same as reading all records', async () => {
    const id = app.addSchema('tricky', [...fields])
    const tricky = findSchemaOf(app.ctx, app.projectId, id)
    if (tricky === undefined) throw new Error('no schema')
    for (const one of values) await createRecord(app.ctx, tricky, { text: one, late: one })
    for (const one of numbers) await createRecord(app.ctx, tricky, { whole: one, half: one + 0.5 })
    await createRecord(app.ctx, tricky, { day: '2026-11-20T00:00:00Z', half: 0.1 + 0.2 })
    const late = { name: 'late', type: 'text', required: false, unique: true } as const
    const changed = { fields: [...fields.slice(0, -1), late] }
    changeSchema(app.ctx, operatorGrant(app.projectId), id, changed)
    const now = findSchemaOf(app.ctx, app.projectId, id)
    if (now === undefined) throw new Error('no schema')
    const plain = { id, fields: now.fields.map((field) => ({ ...field, unique: false })) }
    let found = 0
    const compare = (field: string, value: unknown) => {
      const filters: Filter[] = [{ field, op: 'eq', value }]
      const ids = listMatchingIds(db(), id, whereOf(now, filters, 'and'))
      expect(ids).toEqual(listMatchingIds(db(), id, whereOf(plain, filters, 'and')))
      found += ids.length
    }
    for (const one of [...values, 'b', 1, true, null])
      for (const field of ['text', 'late']) compare(field, one)
    for (const one of [...numbers, '1', ' 1 ', '1.0', '-0', '1e1', -0, 0.5, true, null]) compare('whole', one)
    for (const one of [0.5, '1.5', 0.1 + 0.2, 0.3, 1]) compare('half', one)
    for (const one of ['2026-11-20', '2026-11-20T01:00:00+01:00', 5, null]) compare('day', one)
    expect(found).toBeGreaterThan(60)
  })
})
