import { eq } from 'drizzle-orm'
import { DAY_MS } from '../domain/durations.ts'
import type { Db, DbOrTx } from './open.ts'
import { undoStates } from './schema-audit.ts'
import { prepared } from './statements.ts'

/** How long a change can be undone. contract 17.9. */
export const UNDO_MS = 30 * DAY_MS

export function insertUndoState(
  db: DbOrTx,
  entry: { id: string; projectId: string | null; at: number },
  state: object,
): void {
  const { id: entryId, projectId, at } = entry
  db.insert(undoStates)
    .values({ entryId, projectId, at, state: JSON.stringify(state) })
    .run()
}

export function findUndoState(db: DbOrTx, entryId: string): unknown {
  const row = db
    .select({ state: undoStates.state })
    .from(undoStates)
    .where(eq(undoStates.entryId, entryId))
    .get()
  return row === undefined ? undefined : JSON.parse(row.state)
}

/** Those of the entries whose former state is stored. */
export const listWithState = (db: Db, entryIds: readonly string[]): string[] =>
  prepared<{ id: string }>(
    db,
    'SELECT entry_id AS id FROM undo_states WHERE entry_id IN (SELECT value FROM json_each(?))',
  )
    .all(JSON.stringify(entryIds))
    .map(({ id }) => id)

/** Deletes at most `limit` of before that time; returns how many. */
export const deleteUndoStatesBefore = (db: Db, before: number, limit: number): number =>
  prepared(
    db,
    'DELETE FROM undo_states WHERE entry_id IN (SELECT entry_id FROM undo_states WHERE at < ? LIMIT ?)',
  ).run(before, limit).changes

/** Deletes some of a project that is being deleted; whether there were any. */
export const deleteSomeUndoStatesOf = (db: Db, projectId: string, limit: number): boolean =>
  prepared(
    db,
    'DELETE FROM undo_states WHERE entry_id IN (SELECT entry_id FROM undo_states WHERE project_id = ? LIMIT ?)',
  ).run(projectId, limit).changes > 0
