import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { RedirectStatus } from '../domain/redirect-status.ts'

/** Proxy rules and their sets. */
export const ruleSets = sqliteTable('rule_sets', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  description: text('description'),
  environment: text('environment'),
  isPreview: integer('is_preview', { mode: 'boolean' }).notNull(),
  liveOn: text('live_on').$type<'project' | 'aliases'>().notNull(),
  sourceRepo: text('source_repo'),
  sourcePath: text('source_path'),
  sourceGitSha: text('source_git_sha'),
  syncedAt: integer('synced_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const ruleSetAliases = sqliteTable(
  'rule_set_aliases',
  {
    aliasId: text('alias_id').notNull(),
    ruleSetId: text('rule_set_id').notNull(),
    position: integer('position').notNull(),
  },
  (table) => [primaryKey({ columns: [table.aliasId, table.ruleSetId] })],
)

export const ruleSetRevisions = sqliteTable('rule_set_revisions', {
  id: text('id').primaryKey(),
  ruleSetId: text('rule_set_id').notNull(),
  content: text('content').notNull(),
  gitSha: text('git_sha'),
  createdBy: text('created_by').notNull(),
  createdAt: integer('created_at').notNull(),
})

/** `methods`, `headerConfig` and `pipelineConfig` are JSON; the values in `headerConfig.add` are sealed. */
export const proxyRules = sqliteTable('proxy_rules', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  aliasId: text('alias_id'),
  ruleSetId: text('rule_set_id'),
  pathPattern: text('path_pattern').notNull(),
  method: text('method'),
  methods: text('methods'),
  proxyType: text('proxy_type')
    .$type<'external_proxy' | 'internal_rewrite' | 'pipeline' | 'redirect'>()
    .notNull(),
  targetUrl: text('target_url').notNull(),
  stripPrefix: integer('strip_prefix', { mode: 'boolean' }).notNull(),
  order: integer('rule_order').notNull(),
  timeoutMs: integer('timeout_ms').notNull(),
  preserveHost: integer('preserve_host', { mode: 'boolean' }).notNull(),
  forwardCookies: integer('forward_cookies', { mode: 'boolean' }).notNull(),
  headerConfig: text('header_config'),
  pipelineConfig: text('pipeline_config'),
  isEnabled: integer('is_enabled', { mode: 'boolean' }).notNull(),
  debugEnabled: integer('debug_enabled', { mode: 'boolean' }).notNull(),
  description: text('description'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  isWrittenByAdmin: integer('is_written_by_admin', { mode: 'boolean' }).notNull().default(false),
  status: integer('status').$type<RedirectStatus>(),
})
