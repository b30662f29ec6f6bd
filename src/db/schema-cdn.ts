import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What a CDN is to forget, and where it is told. Triggers write the purges of changes. Like `schema.ts`. */

export const cdnTargets = sqliteTable('cdn_targets', {
  id: integer('id').primaryKey(),
  url: text('url').notNull(),
  waitsUntil: integer('waits_until').notNull().default(0),
  lastAt: integer('last_at'),
  lastKeys: text('last_keys'),
  lastStatus: integer('last_status'),
})

export const cdnPurges = sqliteTable(
  'cdn_purges',
  {
    key: text('key').notNull(),
    target: integer('target').notNull(),
    version: integer('version').notNull().default(1),
    isAgain: integer('is_again', { mode: 'boolean' }).notNull().default(false),
    dueAt: integer('due_at').notNull().default(0),
    tries: integer('tries').notNull().default(0),
    firstTriedAt: integer('first_tried_at'),
  },
  (table) => [primaryKey({ columns: [table.target, table.key] })],
)
