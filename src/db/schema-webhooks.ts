import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Webhooks and their outbox. Like `schema.ts`. */

export const webhooks = sqliteTable('webhooks', {
  id: text('id').primaryKey(),
  projectId: text('project_id'),
  name: text('name').notNull(),
  kind: text('kind').$type<'json' | 'slack' | 'mattermost' | 'discord' | 'ntfy'>().notNull(),
  events: text('events').notNull(),
  sealedUrl: text('sealed_url').notNull(),
  sealedHeaders: text('sealed_headers').notNull(),
  sealedSecret: text('sealed_secret').notNull(),
  isEnabled: integer('is_enabled', { mode: 'boolean' }).notNull(),
  disabledReason: text('disabled_reason'),
  waiting: integer('waiting').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const webhookEvents = sqliteTable('webhook_events', {
  id: integer('id').primaryKey(),
  event: text('event').notNull(),
  projectId: text('project_id'),
  subject: text('subject'),
  body: text('body').notNull(),
  createdAt: integer('created_at').notNull(),
})

export const webhookDeliveries = sqliteTable('webhook_deliveries', {
  seq: integer('seq').primaryKey(),
  id: text('id').notNull(),
  hookId: text('hook_id').notNull(),
  eventId: integer('event_id').notNull(),
  status: text('status').$type<'pending' | 'delivered' | 'failed'>().notNull(),
  tries: text('tries').notNull(),
  triesLeft: integer('tries_left').notNull(),
  nextTryAt: integer('next_try_at'),
  createdAt: integer('created_at').notNull(),
})
