import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { Action } from '../../domain/access.ts'
import { AppError } from '../../domain/errors.ts'
import type { Grant } from '../auth/authorize.ts'

/** The entry that is being undone, and who does it. `targetId`: of the thing that the entry is about. */
export type Undoing = { ctx: Context; tx: DbOrTx; grant: Grant; targetId: string }

/** How the changes of one kind are undone. `State` is what `audit` was given as `undo`. */
export type UndoKind<State extends object> = {
  /** What who makes the change by hand must be allowed. */
  needs: Action | ((state: State) => Action)
  /** Of the project of the entry, unless the state is in the workspace. Looks outside, before the transaction. */
  prepare?(undoing: Omit<Undoing, 'tx'>, state: State): Promise<void>
  /** In one transaction; makes one audit entry with `undo`. Throws what the change by hand throws, or one of the errors below. */
  undo(undoing: Undoing, state: State): void
  /** After the transaction. */
  done?(ctx: Context): void
}

export type AnyUndoKind = UndoKind<object>

/** Forgets the type of the state: the registry finds the kind by the action that stored it. */
export const undoKind = <State extends object>(kind: UndoKind<State>): AnyUndoKind => kind as AnyUndoKind

/** `what` says why, as a sentence. */
export const cannotUndo = (what: string): AppError =>
  new AppError('conflict', `This cannot be undone: ${what}`, { code: 'CANNOT_UNDO' })

export const changedSince = (what: string): AppError =>
  new AppError('conflict', `This cannot be undone any more: ${what} was changed since`, {
    code: 'CHANGED_SINCE',
  })

/** Throws `CHANGED_SINCE` if a field that the entry set has another value now. */
export function refuseChanged(now: object, set: object): void {
  const values = new Map(Object.entries(now))
  for (const [field, value] of Object.entries(set))
    if (!isDeepStrictEqual(values.get(field) ?? null, value ?? null)) throw changedSince(field)
}
