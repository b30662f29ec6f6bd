import type { Db } from '../../../db/open.ts'
import { prepared } from '../../../db/statements.ts'

export type KnownDevice = { userId: string; seenAt: number }

/** The accounts that know the device of this cookie. */
export const listAccountsOfDevice = (db: Db, tokenHash: string): KnownDevice[] =>
  prepared<KnownDevice>(
    db,
    'SELECT user_id AS userId, seen_at AS seenAt FROM known_devices WHERE token_hash = ? ORDER BY seen_at DESC',
  ).all(tokenHash)

export const rememberDevice = (db: Db, userId: string, tokenHash: string, seenAt: number): void =>
  void prepared(
    db,
    `INSERT INTO known_devices (user_id, token_hash, seen_at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET seen_at = excluded.seen_at`,
  ).run(userId, tokenHash, seenAt)

/** Whether somebody has signed in to the account before. */
export const wasEverUsed = (db: Db, userId: string): boolean =>
  prepared(
    db,
    'SELECT 1 FROM known_devices WHERE user_id = ?1 UNION ALL SELECT 1 FROM sessions WHERE user_id = ?1 LIMIT 1',
  ).get(userId) !== null

/** Forgets those of the account beyond the `keep` that were seen last. */
export const deleteOldestDevices = (db: Db, userId: string, keep: number): void =>
  void prepared(
    db,
    `DELETE FROM known_devices WHERE user_id = ?1 AND token_hash IN
       (SELECT token_hash FROM known_devices WHERE user_id = ?1 ORDER BY seen_at DESC LIMIT -1 OFFSET ?2)`,
  ).run(userId, keep)

/** Forgets some that were not seen since, but not the account's last; returns how many. */
export const deleteUnseenDevices = (db: Db, before: number, limit: number): number =>
  prepared(
    db,
    `DELETE FROM known_devices WHERE (user_id, token_hash) IN (SELECT user_id, token_hash FROM known_devices d
       WHERE seen_at < ?1 AND EXISTS (SELECT 1 FROM known_devices WHERE user_id = d.user_id
         AND (seen_at, token_hash) > (d.seen_at, d.token_hash)) LIMIT ?2)`,
  ).run(before, limit).changes
