import { afterAll, beforeAll, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'
import { findSchemaOf, mergeSchema } from './service.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const push = (name: string, fields: unknown) =>
  inTransaction(app.ctx.db, (tx) =>
    mergeSchema(app.ctx, tx, { kind: 'operator' }, app.projectId, { name, fields }),
  )
const email = { name: 'email', type: 'email', required: true }
const age = { name: 'age', type: 'integer' }

test('a push creates a schema, then adds to it; repeating it changes nothing', () => {
  const made = push('people', [email])
  expect(made).toMatchObject({ action: 'create', isChanged: true, mismatches: [] })
  expect(push('people', [email])).toEqual({ ...made, action: 'reuse', isChanged: false })
  expect(push('people', [age])).toMatchObject({ id: made.id, isChanged: true })
  expect(findSchemaOf(app.ctx, app.projectId, '$schema:people')?.fields.map(({ name }) => name)).toEqual([
    'email',
    'age',
  ])
})

test('a different type is reported, and the stored one stays', () => {
  push('typed', [age])
  const changed = push('typed', [{ ...age, type: 'string' }])
  expect(changed).toMatchObject({
    isChanged: false,
    mismatches: [{ field: 'age', stored: 'integer', pushed: 'string' }],
  })
  expect(findSchemaOf(app.ctx, app.projectId, '$schema:typed')?.fields[0]?.type).toBe('integer')
})

test('`required` and `default` follow the push; a wrong field fails all of it', () => {
  push('strict', [{ ...age, required: false }])
  expect(push('strict', [{ ...age, required: true, default: 5 }]).isChanged).toBe(true)
  expect(findSchemaOf(app.ctx, app.projectId, '$schema:strict')?.fields[0]).toMatchObject({
    required: true,
    default: 5,
  })
  expect(() => push('strict', [{ name: 'x', type: 'colour' }])).toThrow('fields[0].type')
})

test('a schema is found by name and by id, only in its own project', () => {
  const { id } = push('mine', [age])
  const other = app.addProject('other')
  for (const reference of ['$schema:mine', id]) {
    expect(findSchemaOf(app.ctx, app.projectId, reference)?.id).toBe(id)
    expect(findSchemaOf(app.ctx, other, reference)).toBeUndefined()
  }
  expect(findSchemaOf(app.ctx, app.projectId, 'mine')).toBeUndefined()
})
