import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'
import { emailField } from '../auth/model.ts'
import { invitationMail } from '../notices/model.ts'
import { projectRole } from '../projects/model.ts'

export const newInvitationBody = t.Object({ email: emailField, role: projectRole })

/** contract §4. `expiresAt` is null once accepted. */
const invitationView = t.Object({
  id: t.String(),
  email: t.String(),
  role: projectRole,
  status: t.Union([t.Literal('pending'), t.Literal('accepted'), t.Literal('expired')]),
  createdAt: t.String(),
  expiresAt: orNull(t.String()),
})
export type InvitationView = Static<typeof invitationView>

/** `url` and `mail` are set while somebody has to open the link. */
export const newInvitationView = t.Object({
  ...invitationView.properties,
  url: t.Optional(t.String()),
  mail: t.Optional(invitationMail),
})

export const invitationsView = t.Object({ invitations: t.Array(invitationView) })

/** What the holder of a link sees. */
export const offerView = t.Object({
  email: t.String(),
  role: projectRole,
  project: t.Object({ id: t.String(), owner: t.String(), name: t.String(), displayName: t.String() }),
})
export type InvitationOffer = Static<typeof offerView>
