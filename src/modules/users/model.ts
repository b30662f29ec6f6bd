import { type Static, t } from 'elysia'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { pageOf, pageQuery } from '../../http/pagination.ts'
import { keysFate } from '../api-keys/model.ts'
import { emailField, globalRole, passwordField, userView } from '../auth/model.ts'
import { reachView } from '../members/model.ts'
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

/** contract §3, 17.6. */
export const userRecord = t.Object({
  ...userView.properties,
  createdAt: t.String(),
  lastSeenAt: orNull(t.String()),
  suspendedAt: orNull(t.String()),
  hasSecondStep: t.Boolean(),
})
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
  status: t.Optional(
    t.Union([t.Literal('active'), t.Literal('suspended')], { error: 'active or suspended' }),
  ),
})

export const userPage = pageOf(userRecord)

export const suspendBody = t.Object({
  reason: t.Optional(orNull(t.String({ maxLength: 500, error: 'Text of up to 500 characters' }))),
})

/** contract 17.6. `passkeys` is 0 until there are any. */
export const userOverview = t.Object({
  user: userRecord,
  suspendedReason: orNull(t.String()),
  sessions: t.Array(
    t.Object({
      id: t.String({ format: 'uuid' }),
      kind: t.Union([t.Literal('browser'), t.Literal('cli')]),
      name: orNull(t.String()),
      ip: t.String(),
      userAgent: t.String(),
      createdAt: t.String(),
      lastSeenAt: t.String(),
    }),
  ),
  secondStep: t.Object({ totp: t.Boolean(), recoveryCodesLeft: t.Integer(), passkeys: t.Integer() }),
  groups: t.Array(t.Object({ id: t.String(), name: t.String() })),
  keys: t.Array(
    t.Object({ id: t.String(), name: t.String(), prefix: t.String(), lastUsedAt: orNull(t.String()) }),
  ),
  projects: t.Array(reachView),
})
export type UserOverview = Static<typeof userOverview>

export const resetLink = t.Object({ url: t.String(), expiresAt: t.String() })
