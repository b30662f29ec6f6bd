import type { DbOrTx } from '../../db/open.ts'
import { isoTime, isoTimeOrNull } from '../../domain/iso-time.ts'
import { lastSeenAtOf } from '../auth/sessions.ts'
import { publicUser } from './accounts.ts'
import type { UserView } from './model.ts'
import type { User } from './queries.ts'

/** Accounts as the API shows them to administrators. contract 17.6. */
export function userViews(db: DbOrTx, users: readonly User[]): UserView[] {
  const seen = lastSeenAtOf(
    db,
    users.map(({ id }) => id),
  )
  return users.map((user) => {
    const lastSeenAt = Math.max(user.lastSeenAt ?? 0, seen.get(user.id) ?? 0)
    return {
      ...publicUser(user),
      createdAt: isoTime(user.createdAt),
      lastSeenAt: isoTimeOrNull(lastSeenAt === 0 ? null : lastSeenAt),
      suspendedAt: isoTimeOrNull(user.suspendedAt),
      hasSecondStep: user.totpSecret !== null,
    }
  })
}

export function userView(db: DbOrTx, user: User): UserView {
  const [view] = userViews(db, [user])
  if (view === undefined) throw new Error('A view of one user is one')
  return view
}
