import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import { isProjectThere } from '../projects/removed.ts'
import { findGroupPermission, listRolesOfGroup, upsertGroupPermission } from './queries.ts'

/** The roles that a group gives on projects, for one that is deleted and may come back. */
export type GroupRole = { projectId: string; groupId: string; role: ProjectRole; grantedAt: number }

export const groupRolesOf = (db: DbOrTx, groupId: string): GroupRole[] => listRolesOfGroup(db, groupId)

export const groupRoleOn = (db: DbOrTx, projectId: string, groupId: string): ProjectRole | null =>
  findGroupPermission(db, projectId, groupId)?.role ?? null

/** Leaves out a project that is gone. */
export function giveGroupRoleBack({ db }: Context, tx: DbOrTx, given: GroupRole): void {
  const { projectId, groupId, role, grantedAt } = given
  if (isProjectThere(db, projectId)) upsertGroupPermission(tx, projectId, groupId, role, grantedAt)
}
