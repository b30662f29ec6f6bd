import { and, desc, eq, lt, ne, notExists, or, sql } from 'drizzle-orm'
import type { SessionUser } from '../../../context.ts'
import type { Db, DbOrTx } from '../../../db/open.ts'
import { sessions, sessionTokens } from '../../../db/schema.ts'
import { prepared } from '../../../db/statements.ts'

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
