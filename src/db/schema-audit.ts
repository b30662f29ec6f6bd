import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Who did what. Like `schema.ts`. */

export const auditLog = sqliteTable('audit_log', {
  id: text('id').primaryKey(),
  at: integer('at').notNull(),
  actorKind: text('actor_kind').notNull(),
  actorId: text('actor_id'),
  actorName: text('actor_name'),
  credential: text('credential').notNull(),
  ip: text('ip'),
  action: text('action').notNull(),
  targetKind: text('target_kind').notNull(),
  targetId: text('target_id'),
  projectId: text('project_id'),
  before: text('before'),
  after: text('after'),
  targetName: text('target_name'),
  undoOf: text('undo_of'),
  undoRoot: text('undo_root'),
  undoDepth: integer('undo_depth'),
  undoAction: text('undo_action'),
})

/** What a change can be taken back to: only `undo-states.ts` reads and writes it. */
export const undoStates = sqliteTable('undo_states', {
  entryId: text('entry_id').primaryKey(),
  projectId: text('project_id'),
  at: integer('at').notNull(),
  state: text('state').notNull(),
})
