import { integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'

/** The files of projects. Like `schema.ts`. */

export const projectFiles = sqliteTable(
  'project_files',
  {
    id: text('id').primaryKey(),
    projectId: text('project_id').notNull(),
    path: text('path').notNull(),
    blobId: integer('blob_id').notNull(),
    sizeBytes: integer('size_bytes').notNull(),
    contentType: text('content_type').notNull(),
    isRegistered: integer('is_registered', { mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [unique().on(table.projectId, table.path)],
)

export const projectFileTotals = sqliteTable('project_file_totals', {
  projectId: text('project_id').primaryKey(),
  files: integer('files').notNull(),
  bytes: integer('bytes').notNull(),
})

export const spentUploads = sqliteTable(
  'spent_uploads',
  {
    projectId: text('project_id').notNull(),
    path: text('path').notNull(),
    spentAt: integer('spent_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.path] })],
)
