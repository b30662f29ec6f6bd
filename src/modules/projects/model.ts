import { type Static, t } from 'elysia'
import { HTML_HANDLINGS } from '../../domain/html-handling.ts'
import { OWNER_NAME, PROJECT_NAME, TITLE } from '../../domain/names.ts'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { wholeNumber } from '../../http/whole-number.ts'

export const projectRole = t.Union(
  [t.Literal('guest'), t.Literal('viewer'), t.Literal('contributor'), t.Literal('admin'), t.Literal('owner')],
  { error: 'One of guest, viewer, contributor, admin, owner' },
)

export const ownerField = t.String({
  pattern: OWNER_NAME,
  error: '1 to 100 of A-Z, a-z, 0-9, dot, underscore and hyphen; not . or .. and not shaped like an id',
  examples: ['acme'],
})
export const nameField = t.String({
  pattern: PROJECT_NAME,
  error: '1 to 100 of A-Z, a-z, 0-9, dot, underscore and hyphen; not . or ..',
  examples: ['docs'],
})

const displayName = t.String({
  minLength: 1,
  maxLength: 200,
  pattern: TITLE,
  error: '1 to 200 characters, not only spaces, on one line',
  examples: ['Documentation'],
})
const privateSiteResponse = t.Union([t.Literal('not_found'), t.Literal('login'), t.Null()], {
  error: 'not_found, login, or null for the workspace setting',
})

/** How long a preview stays when its upload does not say. contract 16 §2. */
export const MAX_PREVIEW_DAYS = 365
const htmlHandling = t.Union(
  [
    t.Literal('auto-trailing-slash'),
    t.Literal('force-trailing-slash'),
    t.Literal('drop-trailing-slash'),
    t.Literal('none'),
  ],
  {
    error: `${HTML_HANDLINGS.join(', ')}, or null`,
    description:
      'The addresses of HTML files; null: /about shows about.html, and each file keeps its own name too',
  },
)
const indexing = t.Union([t.Literal('production'), t.Literal('all'), t.Literal('none')], {
  error: 'production, all or none',
  description: 'What search engines may list: all but previews, everything, or nothing',
})
/** Null: as the project, on an alias. */
export const htmlHandlingOrNull = orNull(htmlHandling)

export const newProjectBody = t.Object({
  owner: ownerField,
  name: nameField,
  displayName: t.Optional(displayName),
  isPublic: t.Optional(t.Boolean()),
  allowPublicSignup: t.Optional(t.Boolean()),
  requiredRole: t.Optional(projectRole),
  isSpa: t.Optional(t.Union([t.Boolean(), t.Null()])),
})
export type NewProject = InputOf<typeof newProjectBody>

export const projectPatchBody = t.Object({
  displayName: t.Optional(displayName),
  isPublic: t.Optional(t.Boolean()),
  allowPublicSignup: t.Optional(t.Boolean()),
  requiredRole: t.Optional(projectRole),
  isSpa: t.Optional(t.Union([t.Boolean(), t.Null()])),
  privateSiteResponse: t.Optional(privateSiteResponse),
  previewDays: t.Optional(
    wholeNumber({
      minimum: 1,
      maximum: MAX_PREVIEW_DAYS,
      error: `A whole number from 1 to ${MAX_PREVIEW_DAYS}`,
    }),
  ),
  htmlHandling: t.Optional(htmlHandlingOrNull),
  indexing: t.Optional(indexing),
})
export type ProjectChange = InputOf<typeof projectPatchBody>

export const projectQuery = t.Object({
  q: t.Optional(t.String({ description: 'A part of owner/name or of the name that people see' })),
  // A text, because the explorer would send 0 for an empty number.
  limit: t.Optional(
    t.String({
      pattern: '^([1-9][0-9]?|100)$',
      error: 'a whole number from 1 to 100',
      description: '1 to 100; all projects by default',
    }),
  ),
})

/** A user by id or by email. */
export const userRefFields = {
  userId: t.Optional(t.String({ maxLength: 100, error: 'The id of a user' })),
  email: t.Optional(
    t.String({ maxLength: 320, error: 'The email of a user', examples: ['ann@example.com'] }),
  ),
}

export const newOwnerBody = t.Object(userRefFields)

/** contract §4. `role` is the caller's. */
export const projectView = t.Object({
  id: t.String({ format: 'uuid' }),
  owner: t.String(),
  name: t.String(),
  displayName: t.String(),
  isPublic: t.Boolean(),
  allowPublicSignup: t.Boolean(),
  requiredRole: projectRole,
  isSpa: orNull(t.Boolean()),
  privateSiteResponse,
  previewDays: t.Integer(),
  htmlHandling: htmlHandlingOrNull,
  indexing,
  url: orNull(t.String()),
  icon: orNull(t.String({ description: 'A path of what `url` shows' })),
  role: orNull(projectRole),
  createdAt: t.String(),
  updatedAt: t.String(),
})
export type ProjectView = Static<typeof projectView>
