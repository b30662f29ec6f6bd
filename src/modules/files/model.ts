import { type Static, t } from 'elysia'
import { pageQuery } from '../../http/pagination.ts'

export const fileListQuery = t.Object({
  ...pageQuery,
  prefix: t.Optional(t.String({ description: 'The beginning of the path' })),
})

export const fileView = t.Object({
  id: t.String({ format: 'uuid' }),
  key: t.String({ description: '{owner}/{repo}/uploads/{path}' }),
  path: t.String(),
  url: t.String({ description: 'An address that a rule may serve; nothing else does' }),
  size: t.Integer(),
  contentType: t.String(),
  sha256: t.String(),
  isRegistered: t.Boolean({ description: 'A record was made of it' }),
  createdAt: t.String(),
  updatedAt: t.String(),
})
export type FileView = Static<typeof fileView>

export const folderQuery = t.Object({
  prefix: t.Optional(t.String({ description: 'A folder: videos/1 has videos/1/a, not videos/10/a' })),
})

export const deletedView = t.Object({ deleted: t.Integer() })
