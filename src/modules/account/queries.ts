import { and, asc, desc, eq, or, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import {
  memberships,
  permissions,
  projects,
  recoveryCodes,
  sessions,
  totpEnrollments,
  userConnections,
  users,
} from '../../db/schema.ts'

type SessionRow = typeof sessions.$inferSelect
type ConnectionRow = typeof userConnections.$inferSelect

export function listSessions(db: DbOrTx, userId: string): SessionRow[] {
  return db
    .select()
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.lastSeenAt))
    .all()
}

/** True when the user had that session. Those that were handed over from it to other domains end with it. */
export function deleteSessionOf(db: DbOrTx, userId: string, sessionId: string): boolean {
  const gone = db
    .delete(sessions)
    .where(
      and(eq(sessions.userId, userId), or(eq(sessions.id, sessionId), eq(sessions.openedFrom, sessionId))),
    )
    .returning({ id: sessions.id })
    .all()
  return gone.some(({ id }) => id === sessionId)
}

export function listConnections(db: DbOrTx, userId: string): ConnectionRow[] {
  return db
    .select()
    .from(userConnections)
    .where(eq(userConnections.userId, userId))
    .orderBy(asc(userConnections.provider))
    .all()
}

export function deleteConnection(db: DbOrTx, userId: string, provider: string): void {
  db.delete(userConnections)
    .where(and(eq(userConnections.userId, userId), eq(userConnections.provider, provider)))
    .run()
}

type SecondStepRow = { passwordHash: string | null; totpSecret: string | null }

export function findSecondStep(db: DbOrTx, userId: string): SecondStepRow | undefined {
  return db
    .select({ passwordHash: users.passwordHash, totpSecret: users.totpSecret })
    .from(users)
    .where(eq(users.id, userId))
    .get()
}

/** `lastStep`: the step of the code that confirmed it, which is used up by that. */
export function turnOnTotp(db: DbOrTx, userId: string, secret: string, lastStep: number, now: number): void {
  db.update(users)
    .set({ totpSecret: secret, totpLastStep: lastStep, updatedAt: now })
    .where(eq(users.id, userId))
    .run()
}

export function turnOffTotp(db: DbOrTx, userId: string, now: number): void {
  db.update(users).set({ totpSecret: null, updatedAt: now }).where(eq(users.id, userId)).run()
}

export function findEnrollment(
  db: DbOrTx,
  userId: string,
): { secret: string; createdAt: number } | undefined {
  return db.select().from(totpEnrollments).where(eq(totpEnrollments.userId, userId)).get()
}

export function upsertEnrollment(db: DbOrTx, userId: string, secret: string, createdAt: number): void {
  db.insert(totpEnrollments)
    .values({ userId, secret, createdAt })
    .onConflictDoUpdate({ target: totpEnrollments.userId, set: { secret, createdAt } })
    .run()
}

export function deleteEnrollment(db: DbOrTx, userId: string): void {
  db.delete(totpEnrollments).where(eq(totpEnrollments.userId, userId)).run()
}

export function countRecoveryCodes(db: DbOrTx, userId: string): number {
  const row = db
    .select({ count: sql<number>`count(*)` })
    .from(recoveryCodes)
    .where(eq(recoveryCodes.userId, userId))
    .get()
  return row?.count ?? 0
}

/** Replaces all codes of the user. */
export function replaceRecoveryCodes(db: DbOrTx, userId: string, codeHashes: readonly string[]): void {
  db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)).run()
  if (codeHashes.length === 0) return
  db.insert(recoveryCodes)
    .values(codeHashes.map((codeHash) => ({ userId, codeHash })))
    .run()
}

type SiteRow = {
  projectId: string
  owner: string
  name: string
  displayName: string
  isOwner: boolean
  joinedAt: number
}

/** The projects that the user is a member of. */
export function listMemberSites(db: DbOrTx, userId: string): SiteRow[] {
  return db
    .select({
      projectId: projects.id,
      owner: projects.owner,
      name: projects.name,
      displayName: projects.displayName,
      isOwner: sql<number>`coalesce(${permissions.role} = 'owner', 0)`,
      joinedAt: memberships.joinedAt,
    })
    .from(memberships)
    .innerJoin(projects, eq(projects.id, memberships.projectId))
    .leftJoin(
      permissions,
      and(eq(permissions.projectId, memberships.projectId), eq(permissions.userId, memberships.userId)),
    )
    .where(eq(memberships.userId, userId))
    .orderBy(asc(projects.owner), asc(projects.name))
    .all()
    .map((row) => ({ ...row, isOwner: row.isOwner === 1 }))
}
