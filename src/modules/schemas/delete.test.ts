import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'
import { stopAfter } from '../../testing/stop-after.ts'
import { operatorGrant } from '../auth/authorize.ts'
import { deleteSchema, findSchemaOf, listSchemas, mergeSchema, removeDeletedSchemas } from './service.ts'

/** More than two steps delete. */
const MANY = 2500

let app: PipelineApp
let people: string
beforeEach(async () => {
  app = await pipelineApp()
  people = app.addSchema('people', [{ name: 'email', type: 'string' }])
  app.ctx.db.sqlite
    .query(
      `INSERT INTO records (schema_id, id, data, created_at, updated_at)
       WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${MANY})
       SELECT ?, i, '{}', i, i FROM numbers`,
    )
    .run(people)
})
afterEach(() => app.close())

const as = 'ann@example.com'
const grant = () => operatorGrant(app.projectId)
const count = (table: string) =>
  app.ctx.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n

test('from the first commit on, nothing finds a deleted schema, and its name is free', async () => {
  const deleting = deleteSchema(app.ctx, grant(), people)
  expect(count('records')).toBeGreaterThan(0)
  for (const [method, path] of [
    ['GET', `/api/schemas/${people}`],
    ['PATCH', `/api/schemas/${people}`],
    ['DELETE', `/api/schemas/${people}`],
    ['GET', `/api/schemas/${people}/records`],
    ['POST', `/api/schemas/${people}/records`],
  ] as const) {
    const json = method === 'PATCH' || method === 'POST' ? {} : undefined
    expect((await app.call(method, path, { as, json })).status).toBe(404)
  }
  expect(listSchemas(app.ctx, grant())).toEqual([])
  expect(findSchemaOf(app.ctx, app.projectId, people)).toBeUndefined()
  expect(findSchemaOf(app.ctx, app.projectId, '$schema:people')).toBeUndefined()
  const again = app.addSchema('people', [])
  await deleting
  expect(listSchemas(app.ctx, grant()).map(({ id }) => id)).toEqual([again])
  expect([count('records'), count('schemas')]).toEqual([0, 1])
})

test('what a crash or a stop left of it is deleted later; no push reaches it meanwhile', async () => {
  const other = app.addSchema('other', [])
  await deleteUntilCrash()
  await removeDeletedSchemas(app.ctx, stopAfter(1))
  expect(count('records')).toBeGreaterThan(0)
  expect(count('records')).toBeLessThan(MANY)
  const pushed = { name: `/${people}`, fields: [] }
  expect(() => mergeSchema(app.ctx, app.ctx.db.orm, { kind: 'operator' }, app.projectId, pushed)).toThrow(
    'must be 1 to 100 letters',
  )

  await removeDeletedSchemas(app.ctx)

  expect([count('records'), count('schemas')]).toEqual([0, 1])
  expect(listSchemas(app.ctx, grant()).map(({ id }) => id)).toEqual([other])
})

test('a project is deleted with what is left of a deleted schema', async () => {
  await deleteUntilCrash()
  const answer = await app.call('DELETE', `/api/projects/${app.projectId}`, { as })
  expect(answer.status).toBe(204)
  expect([count('records'), count('schemas')]).toEqual([0, 0])
})

/** Deletes the schema and fails after the first commit: that is logged, not answered. */
async function deleteUntilCrash(): Promise<void> {
  const { sqlite } = app.ctx.db
  sqlite.run("CREATE TRIGGER crash BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'crash'); END")
  await deleteSchema(app.ctx, grant(), people)
  sqlite.run('DROP TRIGGER crash')
  expect(count('records')).toBe(MANY)
}
