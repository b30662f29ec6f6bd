import { audit } from '../../db/audit.ts'
import { refuseTaken } from '../../db/open.ts'
import type { DifferingFields } from '../../domain/differing-fields.ts'
import { giveGroupRoleBack } from '../members/group-roles.ts'
import { cannotUndo, refuseChanged, undoKind } from '../undo/kind.ts'
import { findUser } from '../users/accounts.ts'
import { type Group, insertGroup, insertGroupMember } from './queries.ts'
import {
  addGroupMember,
  changeGroup,
  getGroupRow,
  type RemovedGroup,
  removeGroup,
  removeGroupMember,
  taken,
  targetOf,
} from './service.ts'

/** Gone, unless it was renamed or described otherwise. */
export const groupCreate = undoKind<Group>({
  needs: 'workspace:administer',
  undo({ ctx, tx, grant, targetId }, { name, description }) {
    refuseChanged(getGroupRow(tx, targetId), { name, description })
    removeGroup(ctx, tx, grant, targetId)
  },
})

export const groupChange = undoKind<DifferingFields>({
  needs: 'workspace:administer',
  undo({ ctx, tx, grant, targetId }, { before, after }) {
    refuseChanged(getGroupRow(tx, targetId), after)
    changeGroup(ctx, grant, targetId, before)
  },
})

/** With the members and roles on projects that still exist. */
export const groupDelete = undoKind<RemovedGroup>({
  needs: 'workspace:administer',
  undo({ ctx, tx, grant }, { group, members, roles }) {
    const back = { ...group, updatedAt: ctx.now() }
    refuseTaken(taken(group.name), () => insertGroup(tx, back))
    for (const { userId, addedAt } of members)
      if (findUser(tx, userId) !== undefined) insertGroupMember(tx, group.id, userId, addedAt)
    for (const role of roles) giveGroupRoleBack(ctx, tx, role)
    audit(ctx, tx, grant.actor, {
      action: 'group.create',
      target: targetOf(back),
      after: back,
      undo: back,
    })
  },
})

type Member = { userId: string }

export const groupAddMember = undoKind<Member>({
  needs: 'workspace:administer',
  undo: ({ ctx, grant, targetId }, { userId }) => removeGroupMember(ctx, grant, targetId, userId),
})

export const groupRemoveMember = undoKind<Member>({
  needs: 'workspace:administer',
  undo({ ctx, tx, grant, targetId }, { userId }) {
    if (findUser(tx, userId) === undefined) throw cannotUndo('the person is gone')
    addGroupMember(ctx, grant, targetId, userId)
  },
})
