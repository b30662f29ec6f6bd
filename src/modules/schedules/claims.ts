import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { type CatchUp, nextRunAt, type Timing } from '../../domain/schedule.ts'
import { fullBeside, type Who } from '../../platform/turns.ts'
import type { Room } from './places.ts'

/** A run that is claimed: from here on this process has to run it, and nothing else does. */
export type Fired = { id: string; projectId: string; name: string; firedAt: number }

export type RunEnd = { status: 'ok' | 'failed'; error: string | null; durationMs: number }

type Due = Timing & Who & { id: string; name: string; nextRunAt: number }

/** Whoever has crashed the server so often is not run again because of it. */
const MAX_INTERRUPTIONS = 3
const INTERRUPTED = 'The server stopped while it was running'

const OWNER = `coalesce((SELECT user_id FROM permissions p WHERE p.project_id = s.project_id AND role = 'owner'), s.project_id)`

/** Whatever waits longest, of a project that is there, and of nobody who has their share. */
const findDue = (db: Db, now: number, full: ReturnType<typeof fullBeside>): Due | null =>
  prepared<Due>(
    db,
    `SELECT id, project_id AS projectId, ${OWNER} AS ownerId, name, cron, timezone, next_run_at AS nextRunAt FROM schedules s
      WHERE next_run_at <= ?1 AND fired_at IS NULL AND EXISTS (SELECT 1 FROM projects WHERE id = project_id)
        AND project_id NOT IN (SELECT value FROM json_each(?2)) AND ${OWNER} NOT IN (SELECT value FROM json_each(?3))
      ORDER BY next_run_at LIMIT 1`,
  ).get(now, JSON.stringify(full.projects), JSON.stringify(full.owners))

export const hasDue = (db: Db, now: number): boolean =>
  prepared(db, 'SELECT 1 FROM schedules WHERE next_run_at <= ? LIMIT 1').get(now) !== null

/** The next time that is not due yet. */
export const findNextDueAt = (db: Db, now: number): number | null =>
  prepared<{ at: number | null }>(
    db,
    'SELECT min(next_run_at) AS at FROM schedules WHERE next_run_at > ?',
  ).get(now)?.at ?? null

/**
 * Claims as much of what is due as there is room for, and passes over what is still running. To be committed before anything
 * runs. Each has its next time then, so that no time comes twice, however the clock is set.
 */
export function claimDue(
  db: Db,
  now: number,
  { atOnce, shares, running }: Room,
): { fired: Fired[]; skipped: number } {
  const skipped = passOver(db, now)
  const fired: Fired[] = []
  const taken = [...running]
  while (taken.length < atOnce) {
    const due = findDue(db, now, fullBeside(taken, shares))
    if (due === null) break
    const { id, projectId, name } = due
    prepared(
      db,
      'UPDATE schedules SET fired_at = ?2, last_run_at = ?2, next_run_at = ?3, is_missed = 0 WHERE id = ?1',
    ).run(id, now, nextRunAt(due, Math.max(now, due.nextRunAt)))
    taken.push(due)
    fired.push({ id, projectId, name, firedAt: now })
  }
  return { fired, skipped }
}

type Running = Timing & { id: string; nextRunAt: number }

/** Those that are due while they are running. Returns how many. */
function passOver(db: Db, now: number): number {
  const late = prepared<Running>(
    db,
    `SELECT id, cron, timezone, next_run_at AS nextRunAt FROM schedules
      WHERE fired_at IS NOT NULL AND next_run_at <= ? AND EXISTS (SELECT 1 FROM projects WHERE id = project_id)`,
  ).all(now)
  for (const one of late)
    prepared(
      db,
      `UPDATE schedules SET next_run_at = ?2, is_missed = 1, last_status = 'skipped', last_error = NULL WHERE id = ?1`,
    ).run(one.id, nextRunAt(one, Math.max(now, one.nextRunAt)))
  return late.length
}

/** Claims one that need not be due; false if it is running. */
export const claimNow = (db: Db, id: string, now: number): boolean =>
  prepared(
    db,
    'UPDATE schedules SET fired_at = ?2, last_run_at = ?2, is_missed = 0 WHERE id = ?1 AND fired_at IS NULL',
  ).run(id, now).changes === 1

/** Notes the end of a run. What it kept from running is made up for, if the schedule says so. */
export function endRun(db: Db, { id, firedAt }: Fired, end: RunEnd, now: number): void {
  prepared(
    db,
    `UPDATE schedules SET fired_at = NULL, last_status = ?3, last_error = ?4, last_duration_ms = ?5, interruptions = 0,
       next_run_at = CASE WHEN is_missed = 1 AND catch_up = 'once' AND next_run_at IS NOT NULL THEN ?6 ELSE next_run_at END,
       is_missed = 0
     WHERE id = ?1 AND fired_at = ?2`,
  ).run(id, firedAt, end.status, end.error, end.durationMs, now)
}

type Left = Timing & { id: string; catchUp: CatchUp; nextRunAt: number }

/**
 * What an earlier server left: runs that did not end, and times that passed meanwhile, which are forgotten or come once, now.
 * `own`: the runs of this one. Returns how many were interrupted.
 */
export function settleLeft(db: Db, now: number, own: ReadonlySet<string>): number {
  const cut = prepared<{ id: string }>(db, 'SELECT id FROM schedules WHERE fired_at IS NOT NULL')
    .all()
    .filter(({ id }) => !own.has(id))
  for (const { id } of cut)
    prepared(
      db,
      `UPDATE schedules SET fired_at = NULL, is_missed = 0, interruptions = interruptions + 1, last_status = 'interrupted',
         last_error = ?2, last_duration_ms = NULL,
         next_run_at = CASE WHEN catch_up = 'once' AND next_run_at IS NOT NULL AND interruptions < ${MAX_INTERRUPTIONS}
           THEN min(next_run_at, ?3) ELSE next_run_at END
       WHERE id = ?1`,
    ).run(id, INTERRUPTED, now)
  const left = prepared<Left>(
    db,
    `SELECT id, cron, timezone, catch_up AS catchUp, next_run_at AS nextRunAt FROM schedules
      WHERE next_run_at <= ? AND catch_up = 'none'`,
  ).all(now)
  for (const one of left)
    prepared(db, 'UPDATE schedules SET next_run_at = ?2 WHERE id = ?1').run(one.id, nextRunAt(one, now))
  return cut.length
}
