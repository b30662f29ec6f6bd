import { type Static, t } from 'elysia'
import { TITLE } from '../../domain/names.ts'
import type { InputOf } from '../../http/input-of.ts'
import { pageOf, pageQuery } from '../../http/pagination.ts'

const name = t.String({
  minLength: 1,
  maxLength: 100,
  pattern: TITLE,
  error: '1 to 100 characters, not only spaces, on one line',
  examples: ['Editors'],
})
const EXAMPLE_ID = '01a1f95d-adc8-7540-85f5-eb591f10b29b'
const description = t.Union([t.String({ maxLength: 1000 }), t.Null()], {
  error: 'Up to 1000 characters, or null',
})

export const newGroupBody = t.Object({ name, description: t.Optional(description) })
export const groupPatchBody = t.Object({ name: t.Optional(name), description: t.Optional(description) })

export type NewGroup = InputOf<typeof newGroupBody>
export type GroupChange = InputOf<typeof groupPatchBody>

/** contract §3. */
export const groupView = t.Object({
  id: t.String({ format: 'uuid' }),
  name: t.String(),
  description: t.Union([t.String(), t.Null()]),
  memberCount: t.Integer(),
  createdAt: t.String(),
})

export type GroupView = Static<typeof groupView>

export const groupListQuery = t.Object({ ...pageQuery, search: t.Optional(t.String()) })
export const groupPage = pageOf(groupView)

export const newGroupMemberBody = t.Object({
  userId: t.String({ maxLength: 100, error: 'The id of a user', examples: [EXAMPLE_ID] }),
})

export const groupMemberView = t.Object({ userId: t.String(), email: t.String(), addedAt: t.String() })
export type GroupMemberView = Static<typeof groupMemberView>
