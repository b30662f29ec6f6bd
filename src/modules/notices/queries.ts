import { and, eq } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { mails, noticesOff } from '../../db/schema-notices.ts'
import { prepared } from '../../db/statements.ts'
import type { NoticeId } from './kinds.ts'

export type MailRow = typeof mails.$inferSelect

export const insertMail = (db: DbOrTx, row: Omit<MailRow, 'seq'>): void =>
  void db.insert(mails).values(row).run()

export const findMail = (db: DbOrTx, id: string): MailRow | undefined =>
  db.select().from(mails).where(eq(mails.id, id)).get()

export const updateMail = (
  db: DbOrTx,
  id: string,
  patch: Partial<Pick<MailRow, 'status' | 'sealed' | 'error' | 'triesLeft' | 'nextTryAt' | 'endedAt'>>,
): void => void db.update(mails).set(patch).where(eq(mails.id, id)).run()

/** The first due mails that are not in `apart` (ids). */
export const listDueMails = (
  db: Db,
  now: number,
  apart: readonly string[],
  limit: number,
): { id: string }[] =>
  prepared<{ id: string }>(
    db,
    `SELECT id FROM mails WHERE status = 'pending' AND next_try_at <= ?
       AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY next_try_at, seq LIMIT ?`,
  ).all(now, JSON.stringify(apart), limit)

/** When the next one after `now` is due; null if none waits. */
export const findNextMailAt = (db: Db, now: number): number | null =>
  prepared<{ at: number | null }>(
    db,
    "SELECT min(next_try_at) AS at FROM mails WHERE status = 'pending' AND next_try_at > ?",
  ).get(now)?.at ?? null

export const countPendingMails = (db: Db): number =>
  prepared<{ n: number }>(db, "SELECT count(*) AS n FROM mails WHERE status = 'pending'").get()?.n ?? 0

/** Mails of that kind to the address, made between the two times. */
export const countMailsTo = (db: Db, address: string, notice: string, after: number, until: number): number =>
  prepared<{ n: number }>(
    db,
    'SELECT count(*) AS n FROM mails WHERE address = ? AND notice = ? AND created_at > ? AND created_at < ?',
  ).get(address, notice, after, until)?.n ?? 0

/** When somebody was mailed about it last; null if never. */
export const findLastMailed = (db: Db, notice: string, about: string): number | null =>
  prepared<{ at: number | null }>(
    db,
    'SELECT max(created_at) AS at FROM mails WHERE notice = ? AND about = ?',
  ).get(notice, about)?.at ?? null

export type LastMail = { status: 'sent' | 'failed'; error: string | null; endedAt: number }

/** Why the mail that was made first of those that wait was refused; null if none was. */
export const findRefusal = (db: Db): string | null =>
  prepared<{ error: string }>(
    db,
    "SELECT error FROM mails WHERE status = 'pending' AND error IS NOT NULL ORDER BY seq LIMIT 1",
  ).get()?.error ?? null

/** The mail that ended last; undefined if there is none. */
export const findLastEnded = (db: Db): LastMail | undefined =>
  prepared<LastMail>(
    db,
    "SELECT status, error, ended_at AS endedAt FROM mails WHERE status <> 'pending' ORDER BY ended_at DESC LIMIT 1",
  ).get() ?? undefined

/** Whether the account, if the mail is for one, and the project are still there. */
export const isStillThere = (db: Db, { userId, projectId }: Pick<MailRow, 'userId' | 'projectId'>): boolean =>
  prepared(
    db,
    `SELECT 1 FROM (SELECT ?1 AS u, ?2 AS p) WHERE (u IS NULL OR EXISTS (SELECT 1 FROM users WHERE id = u))
       AND (p IS NULL OR EXISTS (SELECT 1 FROM projects WHERE id = p))`,
  ).get(userId, projectId) !== null

/** Ends what waits and matches without sending it; returns how many. The text goes. */
export const failUnsentMails = (
  db: Pick<Db, 'sqlite'>,
  where: { sql: string; values: (string | number | null)[] },
  error: string,
  at: number,
): number =>
  db.sqlite
    .query<unknown, (string | number | null)[]>(
      `UPDATE mails SET status = 'failed', error = ?, sealed = NULL, next_try_at = NULL, tries_left = 0, ended_at = ?
       WHERE status = 'pending' AND ${where.sql}`,
    )
    .run(error, at, ...where.values).changes

export const deleteMailsBefore = (db: Db, before: number, limit: number): number =>
  prepared(
    db,
    `DELETE FROM mails WHERE seq IN (SELECT seq FROM mails WHERE status <> 'pending' AND ended_at < ? LIMIT ?)`,
  ).run(before, limit).changes

export type Addressee = { id: string; email: string }

export const listWorkspaceAdmins = (db: Db): Addressee[] =>
  prepared<Addressee>(
    db,
    "SELECT id, email FROM users WHERE role = 'admin' AND suspended_at IS NULL ORDER BY created_at, id",
  ).all()

export const listPeople = (db: Db, ids: readonly string[]): Addressee[] =>
  prepared<Addressee>(
    db,
    `SELECT id, email FROM users WHERE id IN (SELECT value FROM json_each(?)) AND suspended_at IS NULL
       ORDER BY created_at, id`,
  ).all(JSON.stringify(ids))

export const isOff = (db: DbOrTx, userId: string, notice: NoticeId): boolean =>
  db.select().from(noticesOff).where(offOf(userId, notice)).get() !== undefined

export const turnOff = (db: DbOrTx, userId: string, notice: NoticeId): void =>
  void db.insert(noticesOff).values({ userId, notice }).onConflictDoNothing().run()

export const turnOn = (db: DbOrTx, userId: string, notice: NoticeId): void =>
  void db.delete(noticesOff).where(offOf(userId, notice)).run()

const offOf = (userId: string, notice: NoticeId) =>
  and(eq(noticesOff.userId, userId), eq(noticesOff.notice, notice))
