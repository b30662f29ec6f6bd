import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Mails, who wants them, and the browsers that accounts know. Like `schema.ts`. */

export const mails = sqliteTable('mails', {
  seq: integer('seq').primaryKey(),
  id: text('id').notNull(),
  notice: text('notice').notNull(),
  address: text('address').notNull(),
  userId: text('user_id'),
  projectId: text('project_id'),
  about: text('about'),
  sealed: text('sealed'),
  status: text('status').$type<'pending' | 'sent' | 'failed'>().notNull(),
  error: text('error'),
  triesLeft: integer('tries_left').notNull(),
  nextTryAt: integer('next_try_at'),
  createdAt: integer('created_at').notNull(),
  endedAt: integer('ended_at'),
})

export const noticesOff = sqliteTable(
  'notices_off',
  { userId: text('user_id').notNull(), notice: text('notice').notNull() },
  (table) => [primaryKey({ columns: [table.userId, table.notice] })],
)

export const knownDevices = sqliteTable(
  'known_devices',
  {
    userId: text('user_id').notNull(),
    tokenHash: text('token_hash').notNull(),
    seenAt: integer('seen_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.tokenHash] })],
)
