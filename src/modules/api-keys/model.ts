import { t } from 'elysia'
import { pageOf, pageQuery } from '../../http/pagination.ts'

const orNull = t.Union([t.String(), t.Null()])

export const newKeyBody = t.Object({
  name: t.String({
    minLength: 1,
    maxLength: 100,
    pattern: '\\S',
    error: '1 to 100 characters, not only spaces',
    examples: ['ci'],
  }),
  projectId: t.Optional(orNull),
  repository: t.Optional(
    t.Union([t.String({ pattern: '^[^/]+/[^/]+$' }), t.Null()], {
      error: 'owner/repo',
      examples: ['acme/docs'],
    }),
  ),
  isGlobal: t.Optional(t.Boolean()),
  expiresAt: t.Optional(
    t.Union([t.String({ format: 'date-time' }), t.Null()], {
      error: 'A time in ISO 8601, such as 2030-01-01T00:00:00.000Z',
    }),
  ),
})

const keyView = t.Object({
  id: t.String({ format: 'uuid' }),
  name: t.String(),
  prefix: t.String(),
  projectId: orNull,
  isGlobal: t.Boolean(),
  createdBy: orNull,
  createdAt: t.String(),
  expiresAt: orNull,
  lastUsedAt: orNull,
})

export const newKeyAnswer = t.Object({ apiKey: keyView, key: t.String() })

export const keyListQuery = t.Object({ ...pageQuery, projectId: t.Optional(t.String()) })
export const keyPage = pageOf(keyView)
