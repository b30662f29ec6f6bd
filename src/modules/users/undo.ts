import type { GlobalRole } from '../../domain/roles.ts'
import { refuseChanged, undoKind } from '../undo/kind.ts'
import { getUserRow } from './accounts.ts'
import { changeUser } from './service.ts'
import { type Suspension, suspendUser, unsuspendUser } from './suspension.ts'

/** The global role; keys are suspended and lifted as by hand. */
export const userRole = undoKind<{ before: GlobalRole; after: GlobalRole }>({
  needs: 'workspace:administer',
  undo({ ctx, tx, grant, targetId }, { before, after }) {
    refuseChanged(getUserRow(tx, { userId: targetId }), { role: after })
    changeUser(ctx, grant, targetId, { role: before })
  },
})

/** Suspended or let back in; sessions that ended stay ended. */
export const userSuspension = undoKind<{ before: Suspension; after: Suspension }>({
  needs: 'workspace:administer',
  undo({ ctx, tx, grant, targetId }, { before, after }) {
    refuseChanged(getUserRow(tx, { userId: targetId }), after)
    if (before.suspendedAt === null) unsuspendUser(ctx, grant, targetId)
    else suspendUser(ctx, grant, targetId, before.suspendedReason)
  },
})
