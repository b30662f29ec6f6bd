import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'
import { userView } from '../auth/model.ts'
import { projectRole } from '../projects/model.ts'

/** What the account hub shows. contract §3. */
export const accountView = t.Object({
  user: userView,
  mfa: t.Object({ totp: t.Boolean(), recoveryCodesLeft: t.Integer() }),
  connections: t.Array(t.Object({ provider: t.String(), email: t.String(), connectedAt: t.String() })),
  sessions: t.Array(
    t.Object({
      id: t.String({ format: 'uuid' }),
      current: t.Boolean(),
      kind: t.Union([t.Literal('browser'), t.Literal('cli')]),
      name: orNull(t.String()),
      ip: t.String(),
      userAgent: t.String(),
      lastSeenAt: t.String(),
    }),
  ),
})
export type AccountView = Static<typeof accountView>

/** A row of My Sites. `role` is the effective role; null for a member whose roles were all taken away. */
export const accountSiteView = t.Object({
  projectId: t.String({ format: 'uuid' }),
  owner: t.String(),
  name: t.String(),
  displayName: t.String(),
  url: orNull(t.String()),
  role: orNull(projectRole),
  isOwner: t.Boolean(),
  joinedAt: t.String(),
})
export type AccountSiteView = Static<typeof accountSiteView>

/** contract §3: `qrSvg` is a picture of `otpauthUrl`, as SVG markup. */
export const enrollmentView = t.Object({ secret: t.String(), otpauthUrl: t.String(), qrSvg: t.String() })
export type Enrollment = Static<typeof enrollmentView>
