import { type Static, t } from 'elysia'
import { TITLE } from '../../domain/names.ts'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { pageOf, pageQuery } from '../../http/pagination.ts'

const textOrNull = orNull(t.String())

export const newKeyBody = t.Object({
  name: t.String({
    minLength: 1,
    maxLength: 100,
    pattern: TITLE,
    error: '1 to 100 characters, not only spaces, on one line',
    examples: ['ci'],
  }),
  projectId: t.Optional(textOrNull),
  /** `owner/repo`, instead of the id. */
  repository: t.Optional(
    t.Union([t.String({ pattern: '^[^/]+/[^/]+$' }), t.Null()], {
      error: 'owner/repo',
      examples: ['acme/docs'],
    }),
  ),
  isGlobal: t.Optional(t.Boolean()),
  expiresAt: t.Optional(
    t.Union([t.String(), t.Null()], {
      description: 'A time in ISO 8601; UTC unless it says otherwise',
      examples: ['2030-01-01T00:00:00.000Z'],
      error: 'A time in ISO 8601, such as 2030-01-01T00:00:00.000Z, or null',
    }),
  ),
})

export type NewApiKey = InputOf<typeof newKeyBody>

/** contract §7, 12.8. No record contains the key itself. */
const keyView = t.Object({
  id: t.String({ format: 'uuid' }),
  name: t.String(),
  prefix: t.String(),
  projectId: textOrNull,
  isGlobal: t.Boolean(),
  createdBy: textOrNull,
  createdAt: t.String(),
  expiresAt: textOrNull,
  lastUsedAt: textOrNull,
  suspendedAt: textOrNull,
  suspendedReason: orNull(
    t.Union([t.Literal('maker_demoted'), t.Literal('maker_suspended'), t.Literal('maker_deleted')]),
  ),
})

export type ApiKeyView = Static<typeof keyView>

/** What becomes of the keys of somebody who may not make them any more. contract 12.8. */
export const keysFate = t.Union([t.Literal('suspend'), t.Literal('take-over')], {
  error: 'suspend or take-over',
  examples: ['suspend'],
})
export type KeysFate = Static<typeof keysFate>

export const keyAnswer = keyView
export const newKeyAnswer = t.Object({ apiKey: keyView, key: t.String() })

export const keyListQuery = t.Object({ ...pageQuery, projectId: t.Optional(t.String()) })
export const keyPage = pageOf(keyView)
