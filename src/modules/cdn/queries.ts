import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** An address that purges are sent to. */
export type Target = { id: number; url: string }
export type Purge = { key: string; version: number }

export const listTargets = (db: Db): Target[] =>
  prepared<Target>(db, 'SELECT id, url FROM cdn_targets ORDER BY id').all()

/** Exactly these; what waits for another goes with it. */
export function replaceTargets(db: Db, urls: readonly string[]): void {
  const json = JSON.stringify(urls)
  prepared(db, 'DELETE FROM cdn_targets WHERE url NOT IN (SELECT value FROM json_each(?))').run(json)
  prepared(
    db,
    'INSERT INTO cdn_targets (url) SELECT value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING',
  ).run(json)
}

/** Writes a key for all targets; a key that waits begins anew. */
export const insertPurge = (db: Db, key: string): void =>
  void prepared(db, 'INSERT INTO cdn_stale (key) VALUES (?)').run(key)

/** The targets for which something is due and that did not ask to be left alone, without those in `apart`. */
export const listDueTargets = (db: Db, now: number, apart: readonly number[]): Target[] =>
  prepared<Target>(
    db,
    `SELECT id, url FROM cdn_targets t WHERE waits_until <= ? AND id NOT IN (SELECT value FROM json_each(?))
       AND EXISTS (SELECT 1 FROM cdn_purges WHERE target = t.id AND due_at <= ?) ORDER BY id`,
  ).all(now, JSON.stringify(apart), now)

/** When something is due next after now; null if nothing waits. */
export const findNextDueAt = (db: Db, now: number): number | null =>
  prepared<{ at: number | null }>(
    db,
    `SELECT min(at) AS at FROM (SELECT max(p.due_at, t.waits_until) AS at FROM cdn_targets t
       JOIN cdn_purges p ON p.target = t.id AND p.due_at =
         (SELECT min(due_at) FROM cdn_purges WHERE target = t.id AND max(due_at, t.waits_until) > ?))`,
  ).get(now)?.at ?? null

export const listDuePurges = (db: Db, target: number, now: number, limit: number): Purge[] =>
  prepared<Purge>(
    db,
    'SELECT key, version FROM cdn_purges WHERE target = ? AND due_at <= ? ORDER BY due_at, key LIMIT ?',
  ).all(target, now, limit)

const SENT = `target = ?1 AND (key, version) IN (SELECT value ->> 'key', value ->> 'version' FROM json_each(?2))`

/** They arrived: the second time ends them, the first time is followed by another. What failed before goes out now. */
export function settleSent(
  db: Db,
  target: number,
  purges: readonly Purge[],
  { againAt, now }: { againAt: number; now: number },
): void {
  const json = JSON.stringify(purges)
  prepared(db, `DELETE FROM cdn_purges WHERE ${SENT} AND is_again = 1`).run(target, json)
  prepared(
    db,
    `UPDATE cdn_purges SET is_again = 1, due_at = ?3, tries = 0, first_tried_at = NULL WHERE ${SENT}`,
  ).run(target, json, againAt)
  prepared(db, 'UPDATE cdn_purges SET due_at = ?2 WHERE target = ?1 AND tries > 0 AND due_at > ?2').run(
    target,
    now,
  )
}

/** They did not arrive: each waits by how often it failed, at least until `notBefore`. Returns those given up. */
export function settleFailed(
  db: Db,
  target: number,
  purges: readonly Purge[],
  after: { now: number; notBefore: number; waitsMs: readonly number[]; giveUpMs: number },
): number {
  const { now, notBefore, waitsMs, giveUpMs } = after
  const json = JSON.stringify(purges)
  prepared(
    db,
    `UPDATE cdn_purges SET first_tried_at = coalesce(first_tried_at, ?3), tries = tries + 1,
       due_at = max(?4, ?3 + coalesce(json_extract(?5, '$[' || tries || ']'), json_extract(?5, '$[#-1]')))
     WHERE ${SENT}`,
  ).run(target, json, now, notBefore, JSON.stringify(waitsMs))
  return prepared(db, `DELETE FROM cdn_purges WHERE ${SENT} AND first_tried_at <= ?3`).run(
    target,
    json,
    now - giveUpMs,
  ).changes
}

/** Remembers the last request to a target. `status` null: nothing answered. */
export const updateTarget = (
  db: Db,
  target: number,
  last: { at: number; keys: readonly string[]; status: number | null; waitsUntil: number },
): void =>
  void prepared(
    db,
    'UPDATE cdn_targets SET last_at = ?, last_keys = ?, last_status = ?, waits_until = ? WHERE id = ?',
  ).run(last.at, JSON.stringify(last.keys), last.status, last.waitsUntil, target)

export const countPurges = (db: Db): { pending: number; failing: number } =>
  prepared<{ pending: number; failing: number }>(
    db,
    'SELECT count(*) AS pending, count(*) FILTER (WHERE tries > 0) AS failing FROM cdn_purges',
  ).get() ?? { pending: 0, failing: 0 }

export const findLastPurge = (db: Db): { at: number; keys: string; status: number | null } | null =>
  prepared<{ at: number; keys: string; status: number | null }>(
    db,
    `SELECT last_at AS at, last_keys AS keys, last_status AS status FROM cdn_targets WHERE last_at IS NOT NULL
     ORDER BY last_at DESC, id LIMIT 1`,
  ).get() ?? null
