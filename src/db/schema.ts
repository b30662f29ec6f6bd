import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { HtmlHandling } from '../domain/html-handling.ts'
import type { Indexing } from '../domain/indexing.ts'
import type { GlobalRole, ProjectRole } from '../domain/roles.ts'

/**
 * The tables, for typed queries; those of contents and records have files of their own. The SQL in `migrations/` creates
 * them; a test compares the two. Columns ending in `At` are milliseconds since 1970 in UTC.
 */

export const settings = sqliteTable('settings', {
  key: text('key').primaryKey(),
  value: text('value').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** `lastSeenAt`: of the sessions that ended, kept by a trigger. */
export const users = sqliteTable('users', {
  id: text('id').primaryKey(),
  email: text('email').notNull(),
  passwordHash: text('password_hash'),
  role: text('role').$type<GlobalRole>().notNull(),
  totpSecret: text('totp_secret'),
  totpLastStep: integer('totp_last_step').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  suspendedAt: integer('suspended_at'),
  suspendedReason: text('suspended_reason'),
  lastSeenAt: integer('last_seen_at'),
})

/** Accounts of before whose email is spelled otherwise than its normal form, which is `email` here. */
export const emailKeys = sqliteTable('email_keys', {
  userId: text('user_id').primaryKey(),
  email: text('email').notNull(),
})

export const sessions = sqliteTable('sessions', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  ip: text('ip').notNull(),
  userAgent: text('user_agent').notNull(),
  host: text('host'),
  createdAt: integer('created_at').notNull(),
  lastSeenAt: integer('last_seen_at').notNull(),
  openedFrom: text('opened_from'),
})

export const sessionTokens = sqliteTable('session_tokens', {
  tokenHash: text('token_hash').primaryKey(),
  sessionId: text('session_id').notNull(),
  kind: text('kind').$type<'access' | 'refresh'>().notNull(),
  expiresAt: integer('expires_at').notNull(),
  replacedAt: integer('replaced_at'),
})

/** The sessions that `svc login` opened; they have a token in place of cookies. */
export const cliSessions = sqliteTable('cli_sessions', {
  sessionId: text('session_id').primaryKey(),
  tokenHash: text('token_hash').notNull(),
  name: text('name').notNull(),
})

/** `isApproved`: null until somebody decided. */
export const deviceLogins = sqliteTable('device_logins', {
  deviceHash: text('device_hash').primaryKey(),
  userHash: text('user_hash').notNull(),
  clientName: text('client_name').notNull(),
  ip: text('ip').notNull(),
  network: text('network').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  intervalSeconds: integer('interval_seconds').notNull(),
  askedAt: integer('asked_at'),
  isApproved: integer('is_approved', { mode: 'boolean' }),
  approvedBy: text('approved_by'),
})

export const totpEnrollments = sqliteTable('totp_enrollments', {
  userId: text('user_id').primaryKey(),
  secret: text('secret').notNull(),
  createdAt: integer('created_at').notNull(),
})

export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    userId: text('user_id').notNull(),
    codeHash: text('code_hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
)

export const userConnections = sqliteTable(
  'user_connections',
  {
    provider: text('provider').notNull(),
    subject: text('subject').notNull(),
    userId: text('user_id').notNull(),
    email: text('email').notNull(),
    connectedAt: integer('connected_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.provider, table.subject] })],
)

export const groups = sqliteTable('groups', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  description: text('description'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const groupMembers = sqliteTable(
  'group_members',
  {
    groupId: text('group_id').notNull(),
    userId: text('user_id').notNull(),
    addedAt: integer('added_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.groupId, table.userId] })],
)

export const projects = sqliteTable('projects', {
  id: text('id').primaryKey(),
  owner: text('owner').notNull(),
  name: text('name').notNull(),
  displayName: text('display_name').notNull(),
  isPublic: integer('is_public', { mode: 'boolean' }).notNull(),
  allowPublicSignup: integer('allow_public_signup', { mode: 'boolean' }).notNull(),
  requiredRole: text('required_role').$type<ProjectRole>().notNull(),
  isSpa: integer('is_spa', { mode: 'boolean' }),
  privateSiteResponse: text('private_site_response').$type<'not_found' | 'login'>(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  previewDays: integer('preview_days').notNull().default(7),
  htmlHandling: text('html_handling').$type<HtmlHandling>(),
  indexing: text('indexing').$type<Indexing>().notNull().default('production'),
})

export const removedProjects = sqliteTable('removed_projects', {
  id: text('id').primaryKey(),
  removedAt: integer('removed_at').notNull(),
})

export const permissions = sqliteTable(
  'permissions',
  {
    projectId: text('project_id').notNull(),
    userId: text('user_id').notNull(),
    role: text('role').$type<ProjectRole>().notNull(),
    grantedAt: integer('granted_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.userId] })],
)

export const groupPermissions = sqliteTable(
  'group_permissions',
  {
    projectId: text('project_id').notNull(),
    groupId: text('group_id').notNull(),
    role: text('role').$type<ProjectRole>().notNull(),
    grantedAt: integer('granted_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.groupId] })],
)

export const memberships = sqliteTable(
  'memberships',
  {
    projectId: text('project_id').notNull(),
    userId: text('user_id').notNull(),
    joinedAt: integer('joined_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.userId] })],
)

/** Insert a row to change the owner of a project: a trigger swaps the roles and deletes the row. */
export const ownershipTransfers = sqliteTable('ownership_transfers', {
  projectId: text('project_id').primaryKey(),
  toUserId: text('to_user_id').notNull(),
  at: integer('at').notNull(),
})

export const oneTimeTokens = sqliteTable('one_time_tokens', {
  tokenHash: text('token_hash').primaryKey(),
  purpose: text('purpose').$type<'reset' | 'invite' | 'site_code'>().notNull(),
  userId: text('user_id').notNull(),
  data: text('data'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
})

export const invitations = sqliteTable('invitations', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  email: text('email').notNull(),
  role: text('role').$type<Exclude<ProjectRole, 'owner'>>().notNull(),
  tokenHash: text('token_hash'),
  createdBy: text('created_by').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at'),
  acceptedAt: integer('accepted_at'),
})

export const projectSecrets = sqliteTable(
  'project_secrets',
  {
    projectId: text('project_id').notNull(),
    name: text('name').notNull(),
    sealedValue: text('sealed_value').notNull(),
    updatedAt: integer('updated_at').notNull(),
    usableBy: text('usable_by').$type<'contributor' | 'admin'>().notNull().default('contributor'),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name] })],
)

/** `createdBy`: the id of the person who made it, also when the account is gone; null if made on the command line. */
export const apiKeys = sqliteTable('api_keys', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  prefix: text('prefix').notNull(),
  tokenHash: text('token_hash').notNull(),
  projectId: text('project_id'),
  isGlobal: integer('is_global', { mode: 'boolean' }).notNull(),
  createdBy: text('created_by'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at'),
  lastUsedAt: integer('last_used_at'),
  suspendedAt: integer('suspended_at'),
  suspendedReason: text('suspended_reason').$type<'maker_demoted' | 'maker_suspended' | 'maker_deleted'>(),
})

export const deployments = sqliteTable('deployments', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  commitSha: text('commit_sha').notNull(),
  version: integer('version').notNull().default(1),
  branch: text('branch'),
  description: text('description'),
  workflowName: text('workflow_name'),
  workflowRunId: text('workflow_run_id'),
  committedAt: integer('committed_at'),
  tags: text('tags'),
  baseSha: text('base_sha'),
  basePath: text('base_path').notNull().default(''),
  fileCount: integer('file_count').notNull(),
  totalSize: integer('total_size').notNull(),
  revision: integer('revision').notNull().default(1),
  wasShown: integer('was_shown', { mode: 'boolean' }).notNull().default(false),
  createdBy: text('created_by').notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  preview: text('preview'),
  number: integer('number').notNull().default(0),
  title: text('title'),
  icon: text('icon'),
})

export const assets = sqliteTable('assets', {
  id: text('id').primaryKey(),
  deploymentId: text('deployment_id').notNull(),
  path: text('path').notNull(),
  blobId: integer('blob_id').notNull(),
  sizeBytes: integer('size_bytes').notNull(),
})

/** `expiresAt`: an alias with an end is a preview. `expiresIn`: what its last publish asked for; null: the project's days. */
export const aliases = sqliteTable('aliases', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  deploymentId: text('deployment_id').notNull(),
  basePath: text('base_path').notNull().default(''),
  isPublic: integer('is_public', { mode: 'boolean' }),
  isSpa: integer('is_spa', { mode: 'boolean' }),
  requiredRole: text('required_role').$type<ProjectRole>(),
  isLocked: integer('is_locked', { mode: 'boolean' }).notNull().default(false),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  expiresAt: integer('expires_at'),
  expiresIn: integer('expires_in'),
  pullRequest: integer('pull_request'),
  pullRequestUrl: text('pull_request_url'),
  htmlHandling: text('html_handling').$type<HtmlHandling>(),
})

export const aliasHistory = sqliteTable('alias_history', {
  id: text('id').primaryKey(),
  aliasId: text('alias_id').notNull(),
  deploymentId: text('deployment_id').notNull(),
  commitSha: text('commit_sha').notNull(),
  basePath: text('base_path').notNull(),
  movedBy: text('moved_by').notNull(),
  movedAt: integer('moved_at').notNull(),
  reason: text('reason').$type<'create' | 'publish' | 'move' | 'rollback'>().notNull().default('move'),
  version: integer('version').notNull().default(1),
  number: integer('number'),
})

export const previewDeployments = sqliteTable(
  'preview_deployments',
  {
    aliasId: text('alias_id').notNull(),
    deploymentId: text('deployment_id').notNull(),
    publishedAt: integer('published_at').notNull(),
    isKept: integer('is_kept', { mode: 'boolean' }).notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.aliasId, table.deploymentId] })],
)

export const hostLabels = sqliteTable('host_labels', {
  label: text('label').primaryKey(),
  aliasId: text('alias_id'),
  deploymentId: text('deployment_id'),
  isNewest: integer('is_newest', { mode: 'boolean' }).notNull().default(false),
})

/** The highest number of a commit's deleted versions. Triggers write it. */
export const givenVersions = sqliteTable(
  'given_versions',
  {
    projectId: text('project_id').notNull(),
    commitSha: text('commit_sha').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.commitSha] })],
)

/** The highest number that a project has given to a deployment. A trigger writes it. */
export const deploymentCounters = sqliteTable('deployment_counters', {
  projectId: text('project_id').primaryKey(),
  number: integer('number').notNull(),
})

export const siteGeneration = sqliteTable('site_generation', {
  id: integer('id').primaryKey(),
  sites: integer('sites').notNull(),
  access: integer('access').notNull(),
})
