import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ProjectRole } from '../domain/roles.ts'

/** External hosts, and how their visitors are shared between aliases. Like `schema.ts`. */

export const domains = sqliteTable('domains', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  hostname: text('hostname').notNull(),
  alias: text('alias').notNull(),
  pathPrefix: text('path_prefix').notNull().default(''),
  isPublic: integer('is_public', { mode: 'boolean' }),
  isSpa: integer('is_spa', { mode: 'boolean' }),
  requiredRole: text('required_role').$type<ProjectRole>(),
  redirectTo: text('redirect_to'),
  challenge: text('challenge').notNull(),
  verifiedBy: text('verified_by').$type<'base_domain' | 'txt' | 'http' | 'admin'>(),
  verifiedAt: integer('verified_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  checkedAt: integer('checked_at'),
  checkError: text('check_error'),
})

/** `weights` and `rules` are JSON. */
export const traffic = sqliteTable('traffic', {
  domainId: text('domain_id').primaryKey(),
  weights: text('weights').notNull(),
  sticky: integer('sticky', { mode: 'boolean' }).notNull(),
  stickySeconds: integer('sticky_seconds').notNull(),
  rules: text('rules').notNull(),
  updatedAt: integer('updated_at').notNull(),
})
