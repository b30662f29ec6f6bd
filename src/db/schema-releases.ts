import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** How a deployment is served, and what is checked before an alias shows it. Like `schema.ts`. */

/** `compiled` is JSON. */
export const deploymentRouting = sqliteTable('deployment_routing', {
  deploymentId: text('deployment_id').notNull(),
  folder: text('folder').notNull(),
  compiled: text('compiled').notNull(),
})

/** `checks` is JSON, as in the two tables below. */
export const releaseChecks = sqliteTable('release_checks', {
  projectId: text('project_id').primaryKey(),
  checks: text('checks').notNull(),
})

export const deploymentChecks = sqliteTable('deployment_checks', {
  deploymentId: text('deployment_id').notNull(),
  path: text('path').notNull(),
  checks: text('checks').notNull(),
})

export const heldReleases = sqliteTable('held_releases', {
  deploymentId: text('deployment_id').primaryKey(),
  held: text('held').notNull(),
})

/** `leftOut` and `made` are JSON; the latter is null until the report is complete. */
export const deploymentReports = sqliteTable('deployment_reports', {
  deploymentId: text('deployment_id').primaryKey(),
  uploadId: text('upload_id').notNull(),
  alias: text('alias').notNull(),
  shownId: text('shown_id'),
  shownSha: text('shown_sha'),
  leftOut: text('left_out').notNull(),
  status: text('status', { enum: ['running', 'complete', 'failed'] }).notNull(),
  made: text('made'),
  createdAt: integer('created_at').notNull(),
  completedAt: integer('completed_at'),
})
