import { and, desc, eq, getTableColumns, isNull } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { invitations, projects } from '../../db/schema.ts'
import { countRows } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'

/** Open while it has a `tokenHash` and an `expiresAt` in the future; accepted ones have neither. */
export type Invitation = typeof invitations.$inferSelect

export function listInvitationRows(db: DbOrTx, projectId: string): Invitation[] {
  return db
    .select()
    .from(invitations)
    .where(eq(invitations.projectId, projectId))
    .orderBy(desc(invitations.createdAt), desc(invitations.id))
    .all()
}

export function selectInvitations(
  db: DbOrTx,
  projectId: string,
  { limit, offset }: { limit: number; offset: number },
): { rows: Invitation[]; total: number } {
  const where = eq(invitations.projectId, projectId)
  const rows = db
    .select()
    .from(invitations)
    .where(where)
    .orderBy(desc(invitations.createdAt), desc(invitations.id))
    .limit(limit)
    .offset(offset)
    .all()
  return { rows, total: countRows(db, invitations, where) }
}

export function findInvitation(db: DbOrTx, projectId: string, id: string): Invitation | undefined {
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.projectId, projectId), eq(invitations.id, id)))
    .get()
}

/** Finds none to a project that is being deleted. */
export function findInvitationByHash(db: DbOrTx, tokenHash: string): Invitation | undefined {
  return db
    .select(getTableColumns(invitations))
    .from(invitations)
    .innerJoin(projects, eq(projects.id, invitations.projectId))
    .where(eq(invitations.tokenHash, tokenHash))
    .get()
}

export function insertInvitation(db: DbOrTx, invitation: Invitation): void {
  db.insert(invitations).values(invitation).run()
}

export function markInvitationAccepted(db: DbOrTx, id: string, acceptedAt: number): void {
  db.update(invitations)
    .set({ acceptedAt, tokenHash: null, expiresAt: null })
    .where(eq(invitations.id, id))
    .run()
}

export function deleteInvitationRow(db: DbOrTx, id: string): void {
  db.delete(invitations).where(eq(invitations.id, id)).run()
}

/** Deletes up to `limit` that were never accepted and expired before `before`; returns how many. */
export function deleteInvitationsExpiredBefore(db: Db, before: number, limit: number): number {
  return prepared(
    db,
    `DELETE FROM invitations WHERE id IN
       (SELECT id FROM invitations WHERE accepted_at IS NULL AND expires_at < ? LIMIT ?)`,
  ).run(before, limit).changes
}

/** Deletes the email's open invitation, if there is one, which ends its link. */
export function deleteOpenInvitation(db: DbOrTx, projectId: string, email: string): void {
  db.delete(invitations)
    .where(
      and(eq(invitations.projectId, projectId), eq(invitations.email, email), isNull(invitations.acceptedAt)),
    )
    .run()
}
