import { type Static, t } from 'elysia'
import type { InputOf } from '../../http/input-of.ts'
import { pageOf, pageQuery } from '../../http/pagination.ts'
import { keysFate } from '../api-keys/model.ts'
import { emailField, globalRole, passwordField, userView } from '../auth/model.ts'
import { invitationMail } from '../notices/model.ts'

const roleField = t.Union(globalRole.anyOf, { error: 'One of admin, user, member' })

export const newUserBody = t.Object({
  email: emailField,
  password: t.Optional(passwordField),
  role: t.Optional(roleField),
})

/** `keys`: what becomes of the API keys of somebody who stops being an admin. */
export const userPatchBody = t.Object({
  email: t.Optional(emailField),
  role: t.Optional(roleField),
  keys: t.Optional(keysFate),
})

export const userDeleteQuery = t.Object({ keys: t.Optional(keysFate) })

export type NewUser = InputOf<typeof newUserBody>
export type UserChange = InputOf<typeof userPatchBody>

/** contract §3. */
export const userRecord = t.Object({ ...userView.properties, createdAt: t.String() })
export type UserView = Static<typeof userRecord>

export const newUserAnswer = t.Object({
  ...userRecord.properties,
  inviteUrl: t.Optional(t.String()),
  mail: t.Optional(invitationMail),
})

export const userListQuery = t.Object({
  ...pageQuery,
  email: t.Optional(t.String()),
  search: t.Optional(t.String()),
})

export const userPage = pageOf(userRecord)

export const resetLink = t.Object({ url: t.String(), expiresAt: t.String() })
