import { refuseTaken } from '../../db/open.ts'
import { projectOf } from '../projects/service.ts'
import { cannotUndo, undoKind } from '../undo/kind.ts'
import { findInvitation, type Invitation, insertInvitation } from './queries.ts'
import { record, withdraw } from './service.ts'

/** With its link, if that has not expired. */
export const invitationRevoke = undoKind<Invitation>({
  needs: 'invitation:manage',
  undo({ ctx, tx, grant }, invitation) {
    projectOf(ctx, grant, tx)
    refuseTaken(`${invitation.email} is invited already`, () => insertInvitation(tx, invitation))
    record(ctx, tx, grant.actor, 'invitation.restore', invitation, { role: invitation.role }, invitation)
  },
})

/** What undoing a revocation did. */
export const invitationRestore = undoKind<Invitation>({
  needs: 'invitation:manage',
  undo({ ctx, tx, grant, targetId }) {
    const found = findInvitation(tx, projectOf(ctx, grant, tx).id, targetId)
    if (found === undefined) throw cannotUndo('the invitation is gone')
    if (found.acceptedAt !== null) throw cannotUndo('the invitation was accepted')
    withdraw(ctx, tx, grant.actor, found)
  },
})
