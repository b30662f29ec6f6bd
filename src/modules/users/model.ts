import { t } from 'elysia'
import { pageOf, pageQuery } from '../../http/pagination.ts'
import { emailField, passwordField, userView } from '../auth/model.ts'

const globalRole = t.Union([t.Literal('admin'), t.Literal('user'), t.Literal('member')], {
  error: 'One of admin, user, member',
})

export const newUserBody = t.Object({
  email: emailField,
  password: t.Optional(passwordField),
  role: t.Optional(globalRole),
})

export const userPatchBody = t.Object({ email: t.Optional(emailField), role: t.Optional(globalRole) })

export const userRecord = t.Object({ ...userView.properties, createdAt: t.String() })

export const newUserAnswer = t.Object({ ...userRecord.properties, inviteUrl: t.Optional(t.String()) })

export const userListQuery = t.Object({
  ...pageQuery,
  email: t.Optional(t.String()),
  search: t.Optional(t.String()),
})

export const userPage = pageOf(userRecord)

export const resetLink = t.Object({ url: t.String(), expiresAt: t.String() })
