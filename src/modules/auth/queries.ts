import { and, asc, desc, eq, inArray, lt, ne, notExists, or, sql } from 'drizzle-orm'
import type { SessionUser } from '../../context.ts'
import type { Db, DbOrTx } from '../../db/open.ts'
import {
  oneTimeTokens,
  recoveryCodes,
  sessions,
  sessionTokens,
  totpEnrollments,
  userConnections,
} from '../../db/schema.ts'
import { countRows } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'

type SessionRow = typeof sessions.$inferSelect
type TokenRow = typeof sessionTokens.$inferSelect

export type FoundToken = {
  kind: 'access' | 'refresh'
  expiresAt: number
  replacedAt: number | null
  sessionId: string
  /** The only host where the session counts; null for wherever its cookies reach. */
  host: string | null
  lastSeenAt: number
  user: SessionUser
}

/** By token hash, with its session's user: one indexed read. On the hot path of private sites, so without drizzle. */
export function findToken(db: Db, tokenHash: string): FoundToken | undefined {
  const row = prepared<{
    kind: 'access' | 'refresh'
    expires_at: number
    replaced_at: number | null
    session_id: string
    host: string | null
    last_seen_at: number
    user_id: string
    email: string
    role: SessionUser['role']
  }>(
    db,
    `SELECT t.kind, t.expires_at, t.replaced_at, t.session_id, s.host, s.last_seen_at, s.user_id, u.email, u.role
       FROM session_tokens t JOIN sessions s ON s.id = t.session_id JOIN users u ON u.id = s.user_id
       WHERE t.token_hash = ?`,
  ).get(tokenHash)
  if (row === null) return undefined
  return {
    kind: row.kind,
    expiresAt: row.expires_at,
    replacedAt: row.replaced_at,
    sessionId: row.session_id,
    host: row.host,
    lastSeenAt: row.last_seen_at,
    user: { id: row.user_id, email: row.email, role: row.role },
  }
}

/** Whose session it is, as they are now. */
export function findSessionUser(db: Db, sessionId: string): SessionUser | undefined {
  const row = prepared<SessionUser>(
    db,
    'SELECT u.id, u.email, u.role FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id = ?',
  ).get(sessionId)
  return row ?? undefined
}

export function insertSession(db: DbOrTx, session: SessionRow): void {
  db.insert(sessions).values(session).run()
}

export function insertToken(db: DbOrTx, token: TokenRow): void {
  db.insert(sessionTokens).values(token).run()
}

export function markTokenReplaced(db: DbOrTx, tokenHash: string, replacedAt: number): void {
  db.update(sessionTokens).set({ replacedAt }).where(eq(sessionTokens.tokenHash, tokenHash)).run()
}

/** With those that were handed over from it to other domains. */
export function deleteSession(db: DbOrTx, sessionId: string): void {
  db.delete(sessions)
    .where(or(eq(sessions.id, sessionId), eq(sessions.openedFrom, sessionId)))
    .run()
}

/** What was handed over from a session to one host, before the time `before`. */
export function deleteHandedOver(db: DbOrTx, openedFrom: string, host: string, before: number): void {
  const ofHost = and(eq(sessions.openedFrom, openedFrom), eq(sessions.host, host))
  db.delete(sessions)
    .where(and(ofHost, lt(sessions.createdAt, before)))
    .run()
}

/** Those used last come first. */
export function listSessions(db: DbOrTx, userId: string): SessionRow[] {
  return db
    .select()
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.lastSeenAt))
    .all()
}

export function findSession(db: DbOrTx, sessionId: string): SessionRow | undefined {
  return db.select().from(sessions).where(eq(sessions.id, sessionId)).get()
}

export function touchSession(db: DbOrTx, sessionId: string, seen: { lastSeenAt: number; ip: string }): void {
  db.update(sessions).set(seen).where(eq(sessions.id, sessionId)).run()
}

export function deleteExpiredTokens(db: DbOrTx, now: number): void {
  db.delete(sessionTokens).where(lt(sessionTokens.expiresAt, now)).run()
}

export function deleteSessionsWithoutTokens(db: DbOrTx): void {
  db.delete(sessions)
    .where(
      notExists(
        db.select({ one: sql`1` }).from(sessionTokens).where(eq(sessionTokens.sessionId, sessions.id)),
      ),
    )
    .run()
}

/** Ends every session of the user but `keep`. */
export function deleteSessionsOfUser(db: DbOrTx, userId: string, keep: string | null): void {
  const mine = eq(sessions.userId, userId)
  db.delete(sessions)
    .where(keep === null ? mine : and(mine, ne(sessions.id, keep)))
    .run()
}

export type OneTimeTokenRow = typeof oneTimeTokens.$inferSelect

export function findOneTimeToken(db: DbOrTx, tokenHash: string): OneTimeTokenRow | undefined {
  return db.select().from(oneTimeTokens).where(eq(oneTimeTokens.tokenHash, tokenHash)).get()
}

export function insertOneTimeToken(db: DbOrTx, token: OneTimeTokenRow): void {
  db.insert(oneTimeTokens).values(token).run()
}

export function deleteOneTimeToken(db: DbOrTx, tokenHash: string): void {
  db.delete(oneTimeTokens).where(eq(oneTimeTokens.tokenHash, tokenHash)).run()
}

export function deleteOneTimeTokensOf(
  db: DbOrTx,
  userId: string,
  purposes: readonly OneTimeTokenRow['purpose'][],
): void {
  db.delete(oneTimeTokens)
    .where(and(eq(oneTimeTokens.userId, userId), inArray(oneTimeTokens.purpose, [...purposes])))
    .run()
}

export function deleteExpiredOneTimeTokens(db: DbOrTx, now: number): void {
  db.delete(oneTimeTokens).where(lt(oneTimeTokens.expiresAt, now)).run()
}

export function hasRecoveryCode(db: DbOrTx, userId: string, codeHash: string): boolean {
  return db.select().from(recoveryCodes).where(recoveryCodeOf(userId, codeHash)).get() !== undefined
}

export const countRecoveryCodes = (db: DbOrTx, userId: string): number =>
  countRows(db, recoveryCodes, eq(recoveryCodes.userId, userId))

/** Replaces all codes of the user. */
export function replaceRecoveryCodes(db: DbOrTx, userId: string, codeHashes: readonly string[]): void {
  db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)).run()
  if (codeHashes.length === 0) return
  db.insert(recoveryCodes)
    .values(codeHashes.map((codeHash) => ({ userId, codeHash })))
    .run()
}

/** True when there was one. */
export function deleteRecoveryCode(db: DbOrTx, userId: string, codeHash: string): boolean {
  return db.delete(recoveryCodes).where(recoveryCodeOf(userId, codeHash)).returning().all().length === 1
}

const recoveryCodeOf = (userId: string, codeHash: string) =>
  and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, codeHash))

type EnrollmentRow = typeof totpEnrollments.$inferSelect

export function findEnrollment(db: DbOrTx, userId: string): EnrollmentRow | undefined {
  return db.select().from(totpEnrollments).where(eq(totpEnrollments.userId, userId)).get()
}

export function upsertEnrollment(db: DbOrTx, row: EnrollmentRow): void {
  const { userId: _, ...set } = row
  db.insert(totpEnrollments).values(row).onConflictDoUpdate({ target: totpEnrollments.userId, set }).run()
}

export function deleteEnrollment(db: DbOrTx, userId: string): void {
  db.delete(totpEnrollments).where(eq(totpEnrollments.userId, userId)).run()
}

type ConnectionRow = typeof userConnections.$inferSelect

export function findConnection(db: DbOrTx, provider: string, subject: string): ConnectionRow | undefined {
  return db
    .select()
    .from(userConnections)
    .where(and(eq(userConnections.provider, provider), eq(userConnections.subject, subject)))
    .get()
}

/** To that provider, or to any. */
export function hasConnection(db: DbOrTx, userId: string, provider?: string): boolean {
  const mine = eq(userConnections.userId, userId)
  return (
    db
      .select({ one: sql`1` })
      .from(userConnections)
      .where(provider === undefined ? mine : and(mine, eq(userConnections.provider, provider)))
      .limit(1)
      .get() !== undefined
  )
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

export function insertConnection(db: DbOrTx, connection: ConnectionRow): void {
  db.insert(userConnections).values(connection).run()
}
