import { and, desc, eq, inArray, lt, ne, or, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../../db/open.ts'
import { cliSessions, sessions, sessionTokens } from '../../../db/schema.ts'
import { prepared } from '../../../db/statements.ts'
import type { SessionUser } from '../../../domain/actor.ts'

type SessionRow = typeof sessions.$inferSelect
type TokenRow = typeof sessionTokens.$inferSelect

export type FoundToken = {
  kind: 'access' | 'refresh'
  expiresAt: number
  replacedAt: number | null
  sessionId: string
  /** The only host where the session is valid; null for wherever its cookies reach. */
  host: string | null
  lastSeenAt: number
  user: SessionUser
}

/** A token by its hash, with its user: one indexed read. On the hot path of private sites, so without drizzle. */
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
       WHERE t.token_hash = ? AND u.suspended_at IS NULL`,
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

/** The session's user, as they are now. */
export function findSessionUser(db: Db, sessionId: string): SessionUser | undefined {
  const row = prepared<SessionUser>(
    db,
    `SELECT u.id, u.email, u.role FROM sessions s JOIN users u ON u.id = s.user_id
       WHERE s.id = ? AND u.suspended_at IS NULL`,
  ).get(sessionId)
  return row ?? undefined
}

export function insertSession(db: DbOrTx, session: SessionRow): void {
  db.insert(sessions).values(session).run()
}

export function insertCliSession(db: DbOrTx, row: typeof cliSessions.$inferSelect): void {
  db.insert(cliSessions).values(row).run()
}

export type CliSession = { sessionId: string; lastSeenAt: number; user: SessionUser }

/** The session of the command line whose token has this hash. */
export function findCliSession(db: Db, tokenHash: string): CliSession | undefined {
  const row = prepared<SessionUser & { sessionId: string; lastSeenAt: number }>(
    db,
    `SELECT s.id AS sessionId, s.last_seen_at AS lastSeenAt, u.id, u.email, u.role
       FROM cli_sessions c JOIN sessions s ON s.id = c.session_id JOIN users u ON u.id = s.user_id
       WHERE c.token_hash = ? AND u.suspended_at IS NULL`,
  ).get(tokenHash)
  if (row === null) return undefined
  const { sessionId, lastSeenAt, ...user } = row
  return { sessionId, lastSeenAt, user }
}

export function insertToken(db: DbOrTx, token: TokenRow): void {
  db.insert(sessionTokens).values(token).run()
}

export function markTokenReplaced(db: DbOrTx, tokenHash: string, replacedAt: number): void {
  db.update(sessionTokens).set({ replacedAt }).where(eq(sessionTokens.tokenHash, tokenHash)).run()
}

/** Also deletes the sessions handed over from it to other domains. */
export function deleteSession(db: DbOrTx, sessionId: string): void {
  db.delete(sessions)
    .where(or(eq(sessions.id, sessionId), eq(sessions.openedFrom, sessionId)))
    .run()
}

/** Deletes the sessions handed over from this one to the host before the time `before`. */
export function deleteHandedOver(db: DbOrTx, openedFrom: string, host: string, before: number): void {
  const ofHost = and(eq(sessions.openedFrom, openedFrom), eq(sessions.host, host))
  db.delete(sessions)
    .where(and(ofHost, lt(sessions.createdAt, before)))
    .run()
}

/** Most recently used first. `name`: that of a session of the command line; null for a browser's. */
export function listSessions(db: DbOrTx, userId: string): (SessionRow & { name: string | null })[] {
  return db
    .select({ session: sessions, name: cliSessions.name })
    .from(sessions)
    .leftJoin(cliSessions, eq(cliSessions.sessionId, sessions.id))
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.lastSeenAt))
    .all()
    .map(({ session, name }) => ({ ...session, name }))
}

/** When each of the users was seen last in a session that has not ended. */
export function lastSeenAtOf(db: DbOrTx, userIds: readonly string[]): Map<string, number> {
  const rows = db
    .select({ userId: sessions.userId, at: sql<number>`max(${sessions.lastSeenAt})` })
    .from(sessions)
    .where(inArray(sessions.userId, [...userIds]))
    .groupBy(sessions.userId)
    .all()
  return new Map(rows.map(({ userId, at }) => [userId, at]))
}

export function findSession(db: DbOrTx, sessionId: string): SessionRow | undefined {
  return db.select().from(sessions).where(eq(sessions.id, sessionId)).get()
}

export function touchSession(db: DbOrTx, sessionId: string, seen: { lastSeenAt: number; ip: string }): void {
  db.update(sessions).set(seen).where(eq(sessions.id, sessionId)).run()
}

/** Deletes up to `limit` expired tokens, the oldest first. Returns the session of each. */
export function deleteExpiredTokens(db: Db, now: number, limit: number): string[] {
  return prepared<{ sessionId: string }>(
    db,
    `DELETE FROM session_tokens WHERE token_hash IN
       (SELECT token_hash FROM session_tokens WHERE expires_at < ? ORDER BY expires_at LIMIT ?)
     RETURNING session_id AS sessionId`,
  )
    .all(now, limit)
    .map(({ sessionId }) => sessionId)
}

/** Deletes those of the sessions that have no token left. */
export function deleteSessionsWithoutTokens(db: Db, ids: readonly string[]): void {
  prepared(
    db,
    `DELETE FROM sessions WHERE id IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM session_tokens WHERE session_id = sessions.id)`,
  ).run(JSON.stringify(ids))
}

/** Deletes every session of the user except `keep`; returns how many. */
export function deleteSessionsOfUser(db: DbOrTx, userId: string, keep: string | null): number {
  const mine = eq(sessions.userId, userId)
  return db
    .delete(sessions)
    .where(keep === null ? mine : and(mine, ne(sessions.id, keep)))
    .returning({ id: sessions.id })
    .all().length
}
