import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Who writes a workspace in an object store. Like `schema.ts`. */

export const machineEpochs = sqliteTable('machine_epochs', {
  epoch: integer('epoch').primaryKey(),
  machine: text('machine').notNull(),
  url: text('url'),
  writer: text('writer').notNull(),
  reason: text('reason', { enum: ['start', 'silence', 'handover', 'forced'] }).notNull(),
  at: integer('at').notNull(),
})

export const storeIdentity = sqliteTable('store_identity', {
  id: text('id').primaryKey(),
  sealed: text('sealed').notNull(),
})
