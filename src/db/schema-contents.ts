import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** The tables of stored contents and of delta uploads; `schema.ts` has the deployments and their files. */

export const blobs = sqliteTable('blobs', {
  id: integer('id').primaryKey(),
  sha256: text('sha256').notNull(),
  sizeBytes: integer('size_bytes').notNull(),
  pack: text('pack'),
  offset: integer('offset').notNull(),
  variantsAt: integer('variants_at'),
  damaged: integer('damaged', { mode: 'boolean' }).notNull().default(false),
  traits: integer('traits'),
  isBrotli: integer('is_brotli', { mode: 'boolean' }),
  object: text('object'),
})

export const removedObjects = sqliteTable('removed_objects', {
  key: text('key').primaryKey(),
  removedAt: integer('removed_at').notNull(),
})

export const blobVariants = sqliteTable(
  'blob_variants',
  {
    sha256: text('sha256').notNull(),
    encoding: text('encoding').$type<'br' | 'zstd' | 'gzip'>().notNull(),
    variantSha256: text('variant_sha256').notNull(),
  },
  (table) => [primaryKey({ columns: [table.sha256, table.encoding] })],
)

export const projectVariants = sqliteTable(
  'project_variants',
  {
    projectId: text('project_id').notNull(),
    blobId: integer('blob_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.blobId] })],
)

export const waitingDeployments = sqliteTable('waiting_deployments', {
  deploymentId: text('deployment_id').primaryKey(),
})

export const blobCandidates = sqliteTable('blob_candidates', {
  sha256: text('sha256').primaryKey(),
  seenAt: integer('seen_at'),
})

export const uploads = sqliteTable('uploads', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  manifest: text('manifest').notNull(),
  createdBy: text('created_by').notNull(),
  expiresAt: integer('expires_at').notNull(),
  publishedAt: integer('published_at'),
  deploymentId: text('deployment_id'),
  release: text('release'),
})

export const uploadBlobs = sqliteTable(
  'upload_blobs',
  {
    projectId: text('project_id').notNull(),
    sha256: text('sha256').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.sha256] })],
)
