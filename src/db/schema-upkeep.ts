import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What projects keep and how much they may store, and what was told of the disk. Like `schema.ts`. */

export const retentionPolicies = sqliteTable('retention_policies', {
  projectId: text('project_id').primaryKey(),
  keepLast: integer('keep_last'),
  keepDays: integer('keep_days'),
  changedAt: integer('changed_at').notNull(),
  lastRunAt: integer('last_run_at'),
  lastRemoved: integer('last_removed').notNull().default(0),
  lastBytes: integer('last_bytes').notNull().default(0),
})

export const projectQuotas = sqliteTable('project_quotas', {
  projectId: text('project_id').primaryKey(),
  bytes: integer('bytes'),
  deployments: integer('deployments'),
  files: integer('files'),
})

export const lowDiskNotices = sqliteTable('low_disk_notices', {
  toldAt: integer('told_at').primaryKey(),
})
