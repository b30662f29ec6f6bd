import type { DbOrTx } from '../../db/open.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import { findMembership, findPermission } from './queries.ts'

/** What ties a person to a project directly: a role, and the membership. */
export type Tie = { role: ProjectRole | null; isMember: boolean }

export const tieOf = (db: DbOrTx, projectId: string, userId: string): Tie => ({
  role: findPermission(db, projectId, userId)?.role ?? null,
  isMember: findMembership(db, projectId, userId) !== undefined,
})
