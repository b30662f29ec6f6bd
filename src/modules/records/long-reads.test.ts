import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Caller } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { apiKeys } from '../../db/schema.ts'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'
import { seedKey } from '../../testing/seed-people.ts'
import { identifyKey } from '../api-keys/identify.ts'
import { authorize, type Grant, operatorGrant } from '../auth/authorize.ts'
import { deleteProject } from '../projects/service.ts'
import { deleteSchema, findSchemaOf, type Schema } from '../schemas/service.ts'
import { listRecords } from './manage.ts'
import { listMatchingIds, MAX_GROUPS } from './queries.ts'
import { isReadAtOnce } from './reads.ts'
import { isSmall, WINDOW, windowsOf } from './scan.ts'
import { aggregateRecords, createRecord, type Filter, queryRecordsJson } from './service.ts'
import { EVERY_RECORD, whereOf } from './where.ts'

/** Reads that are long because records are large or a condition is costly, and what happens while one waits. */

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp({}, { isOnDisk: true })
})
afterAll(() => app.close())

const db = () => app.ctx.db
const MEGABYTE = 1024 * 1024

function madeSchema(name: string, projectId = app.projectId): Schema {
  const made = findSchemaOf(
    app.ctx,
    projectId,
    app.addSchema(name, [{ name: 'word', type: 'text' }], projectId),
  )
  if (made === undefined) throw new Error('no schema')
  return made
}

const idOf = (i: number) => `01a2051a-0000-7000-8000-${String(i).padStart(12, '0')}`

function fill({ id }: Schema, count: number, word: string): void {
  const record = db().sqlite.prepare('INSERT INTO records VALUES (NULL, ?, ?, ?, ?, ?)')
  db().sqlite.transaction(() => {
    for (let i = 0; i < count; i++) record.run(id, idOf(i), JSON.stringify({ word }), i, i)
  })()
}

test('a few large records are not small', async () => {
  const schema = madeSchema('heavy')
  fill(schema, 5, 'x'.repeat(MEGABYTE))
  expect(isSmall(db(), schema.id)).toBe(false)
  const seen: string[][] = []
  for await (const part of windowsOf(db(), schema.id, EVERY_RECORD))
    seen.push(listMatchingIds(db(), schema.id, part))
  expect(seen.flat()).toEqual([4, 3, 2, 1, 0].map(idOf))
  expect(seen.filter((ids) => ids.length > 3)).toEqual([])
})

test('a long pattern makes the same records large', async () => {
  const schema = madeSchema('patterns')
  fill(schema, 10, 'a'.repeat(2_000))
  const like = (value: string): Filter[] => [{ field: 'word', op: 'like', value }]
  expect(isReadAtOnce(db(), schema.id, whereOf(schema, like('%b'), 'and'))).toBe(true)
  const costly = whereOf(schema, like(`%${'a_'.repeat(240)}b`), 'and')
  expect(isReadAtOnce(db(), schema.id, costly)).toBe(false)
  const query = { filters: like('%a%'), logic: 'and', orderBy: null, limit: 100, offset: 0 } as const
  expect(JSON.parse(await queryRecordsJson(app.ctx, schema, query))).toHaveLength(10)
  await createRecord(app.ctx, schema, { word: 'x'.repeat(MEGABYTE) })
  expect(isReadAtOnce(db(), schema.id, whereOf(schema, like('%b%b'), 'and'))).toBe(false)
})

test('a field of very many values is no group', async () => {
  const schema = madeSchema('groups')
  const record = db().sqlite.prepare('INSERT INTO records VALUES (NULL, ?, ?, ?, 0, 0)')
  db().sqlite.transaction(() => {
    for (let i = 0; i < MAX_GROUPS; i++) record.run(schema.id, idOf(i), JSON.stringify({ word: `w${i}` }))
  })()
  const count = { operation: 'count', field: null, groupBy: 'word', filters: [], logic: 'and' } as const
  expect(await aggregateRecords(app.ctx, schema, count)).toHaveLength(MAX_GROUPS)
  await createRecord(app.ctx, schema, { word: 'one more' })
  await expect(aggregateRecords(app.ctx, schema, count)).rejects.toThrow('more than 10000 groups')
})

function grantOfKey(): Grant {
  const key = identifyKey(app.ctx, seedKey(app, app.projectId))
  if (key instanceof Error) throw key
  const caller: Caller = { actor: { kind: 'key', key, ip: '203.0.113.7' }, site: null, refused: null }
  return authorize(app.ctx, caller, 'project:read', { projectId: app.projectId }, true)
}

test('a list that was being read shows nothing to a key that was revoked meanwhile', async () => {
  const schema = madeSchema('revoked')
  fill(schema, WINDOW + 1, 'x')
  const list = () => listRecords(app.ctx, grant, schema.id, { sort: 'word' }, [])
  const grant = grantOfKey()
  expect((await list()).pagination.total).toBe(WINDOW + 1)
  await createRecord(app.ctx, schema, { word: 'y' })
  const asked = list()
  inTransaction(db(), (tx) => tx.delete(apiKeys).run())
  await expect(asked).rejects.toThrow('Sign in')
})

const READS = { logic: 'and', orderBy: { field: 'word', direction: 'asc' }, limit: 10, offset: 0 } as const

test('what was being read of a schema that is deleted meanwhile is not given out', async () => {
  const schema = madeSchema('leaving')
  fill(schema, WINDOW + 1, 'x')
  const query = { ...READS, filters: [] }
  const reads: Promise<unknown>[] = [
    Promise.resolve(queryRecordsJson(app.ctx, schema, query)),
    aggregateRecords(app.ctx, schema, { ...query, operation: 'count', field: null, groupBy: null }),
    listRecords(app.ctx, operatorGrant(app.projectId), schema.id, { sort: 'word' }, []),
  ]
  const deleting = deleteSchema(app.ctx, operatorGrant(app.projectId), schema.id)
  const messages = await Promise.all(reads.map((read) => read.catch((error: Error) => error.message)))
  const gone = 'The schema of this step was deleted just now'
  expect(messages).toEqual([gone, gone, 'There is no such schema'])
  await deleting
})

test('steps of a project that was deleted meanwhile store nothing', async () => {
  const schema = madeSchema('orphan', app.addProject('leaving'))
  const deleting = deleteProject(app.ctx, operatorGrant(schema.projectId))
  expect(findSchemaOf(app.ctx, schema.projectId, schema.id)).toBeUndefined()
  await expect(createRecord(app.ctx, schema, { word: 'late' })).rejects.toThrow('deleted just now')
  await deleting
})
