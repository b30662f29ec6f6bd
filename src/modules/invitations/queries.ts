import { and, desc, eq, isNull } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { invitations } from '../../db/schema.ts'

/** Open while `tokenHash` is there and `expiresAt` is to come; accepted ones have neither. */
export type Invitation = typeof invitations.$inferSelect

export function listInvitationRows(db: DbOrTx, projectId: string): Invitation[] {
  return db
    .select()
    .from(invitations)
    .where(eq(invitations.projectId, projectId))
    .orderBy(desc(invitations.createdAt), desc(invitations.id))
    .all()
}

export function findInvitation(db: DbOrTx, projectId: string, id: string): Invitation | undefined {
  return db
    .select()
    .from(invitations)
    .where(and(eq(invitations.projectId, projectId), eq(invitations.id, id)))
    .get()
}

export function findInvitationByHash(db: DbOrTx, tokenHash: string): Invitation | undefined {
  return db.select().from(invitations).where(eq(invitations.tokenHash, tokenHash)).get()
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

/** The one that this email has not accepted, if there is one: its link ends. */
export function deleteOpenInvitation(db: DbOrTx, projectId: string, email: string): void {
  db.delete(invitations)
    .where(
      and(eq(invitations.projectId, projectId), eq(invitations.email, email), isNull(invitations.acceptedAt)),
    )
    .run()
}
