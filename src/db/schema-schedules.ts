import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { CatchUp, ScheduleStatus } from '../domain/schedule.ts'

/** When rules run by themselves: migration 0039 says what the columns mean. */
export const schedules = sqliteTable('schedules', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  ruleSetId: text('rule_set_id'),
  ruleId: text('rule_id').notNull(),
  method: text('method').notNull(),
  name: text('name').notNull(),
  cron: text('cron').notNull(),
  timezone: text('timezone').notNull(),
  isEnabled: integer('is_enabled', { mode: 'boolean' }).notNull(),
  catchUp: text('catch_up').$type<CatchUp>().notNull(),
  description: text('description'),
  isPushed: integer('is_pushed', { mode: 'boolean' }).notNull(),
  nextRunAt: integer('next_run_at'),
  firedAt: integer('fired_at'),
  isMissed: integer('is_missed', { mode: 'boolean' }).notNull().default(false),
  interruptions: integer('interruptions').notNull().default(0),
  lastRunAt: integer('last_run_at'),
  lastStatus: text('last_status').$type<ScheduleStatus>(),
  lastError: text('last_error'),
  lastDurationMs: real('last_duration_ms'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})
