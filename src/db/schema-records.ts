import { integer, primaryKey, real, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import type { RunTrigger } from '../domain/run-trigger.ts'

/** The tables of schemas, records and runs of pipelines. */

export const recordSchemas = sqliteTable('schemas', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  fields: text('fields').notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const records = sqliteTable(
  'records',
  {
    seq: integer('seq').primaryKey(),
    schemaId: text('schema_id').notNull(),
    id: text('id').notNull(),
    data: text('data').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [unique().on(table.schemaId, table.id)],
)

export const recordUniques = sqliteTable(
  'record_uniques',
  {
    schemaId: text('schema_id').notNull(),
    field: text('field').notNull(),
    value: text('value').notNull(),
    recordId: text('record_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.schemaId, table.field, table.value] })],
)

export const pipelineRuns = sqliteTable(
  'pipeline_runs',
  {
    projectId: text('project_id').notNull(),
    id: text('id').notNull(),
    ruleId: text('rule_id').notNull(),
    ruleName: text('rule_name'),
    phase: text('phase').$type<'steps' | 'post_steps'>().notNull(),
    pathPattern: text('path_pattern').notNull(),
    method: text('method').notNull(),
    path: text('path').notNull(),
    status: integer('status').notNull(),
    durationMs: real('duration_ms').notNull(),
    failedStep: text('failed_step'),
    error: text('error'),
    steps: text('steps'),
    startedAt: integer('started_at').notNull(),
    namesSecret: integer('names_secret', { mode: 'boolean' }).notNull().default(true),
    trigger: text('triggered_by').$type<RunTrigger>().notNull().default('request'),
    scheduleId: text('schedule_id'),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.id] })],
)

export const modelTokens = sqliteTable('model_tokens', {
  projectId: text('project_id').primaryKey(),
  day: integer('day').notNull(),
  tokens: integer('tokens').notNull(),
})

export const postSteps = sqliteTable('post_steps', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  work: text('work').notNull(),
  attempts: integer('attempts').notNull().default(0),
  createdAt: integer('created_at').notNull(),
})
