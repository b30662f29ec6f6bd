import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'
import { operatorGrant } from '../auth/authorize.ts'
import { changeSchema, deleteSchema, findSchemaOf } from '../schemas/service.ts'
import { createRecord, createRecordJson, deleteRecords, updateRecords } from './service.ts'

/** A step reads its schema, and its record is committed a turn later: the schema at the time of the commit applies. */

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const email = { name: 'email', type: 'string' } as const
const grant = () => operatorGrant(app.projectId)
let made = 0

function madeSchema() {
  made += 1
  const id = app.addSchema(`people ${made}`, [email])
  const schema = findSchemaOf(app.ctx, app.projectId, id)
  if (schema === undefined) throw new Error('no schema')
  return schema
}

describe('a schema that changes while a record waits for its commit', () => {
  test('a field that became unique is enforced', async () => {
    const schema = madeSchema()
    await createRecordJson(app.ctx, schema, { email: 'ann@example.com' })
    const writes = [
      () => createRecordJson(app.ctx, schema, { email: 'ann@example.com' }),
      () => createRecord(app.ctx, schema, { email: 'ann@example.com' }),
    ].map((write) => write().catch((error: Error) => error.message))
    changeSchema(app.ctx, grant(), schema.id, { fields: [{ ...email, unique: true }] })
    const taken = 'There is already a record with this email'
    expect(await Promise.all(writes)).toEqual([taken, taken])
    expect(app.stored(schema.id)).toHaveLength(1)
  })

  test('a new field is in the record, and a removed one is not', async () => {
    const schema = madeSchema()
    const old = await createRecord(app.ctx, schema, { email: 'bob@example.com' })
    const writes = [
      createRecordJson(app.ctx, schema, { email: 'ann@example.com', name: 'Ann' }),
      updateRecords(app.ctx, schema, { recordId: old.id }, { email: 'no more', name: 'Bob' }),
    ]
    changeSchema(app.ctx, grant(), schema.id, { fields: [{ name: 'name', type: 'string' }] })
    await Promise.all(writes)
    const rows = app.ctx.db.sqlite.query<{ data: string }, [string]>(
      'SELECT data FROM records WHERE schema_id = ? ORDER BY seq',
    )
    expect(rows.all(schema.id).map(({ data }) => JSON.parse(data))).toEqual([
      { name: 'Bob' },
      { name: 'Ann' },
    ])
  })

  test('a deleted schema accepts no records', async () => {
    const schema = madeSchema()
    const writes = [
      createRecordJson(app.ctx, schema, { email: 'ann@example.com' }),
      updateRecords(app.ctx, schema, { filters: [], logic: 'and' }, { email: 'x' }),
      deleteRecords(app.ctx, schema, { filters: [], logic: 'and' }),
    ].map((write: Promise<unknown>) => write.catch((error: Error) => error.message))
    const deleting = deleteSchema(app.ctx, grant(), schema.id)
    const gone = 'The schema of this step was deleted just now'
    expect(await Promise.all(writes)).toEqual([gone, gone, gone])
    await deleting
  })
})
