import type { Caller, Context } from '../../context.ts'
import { findUndoState, UNDO_MS } from '../../db/undo-states.ts'
import { type Action, PROJECT_ACTIONS, type ProjectAction } from '../../domain/access.ts'
import { AppError } from '../../domain/errors.ts'
import { authorize, type Grant } from '../auth/authorize.ts'
import type { AnyUndoKind } from './kind.ts'
import { UNDO } from './registry.ts'

/** What decides of an entry whether it can be undone. `rootAction`: of the first one, if it is an undo itself. */
export type UndoableEntry = {
  id: string
  at: number
  action: string
  undoAction: string | null
  rootAction: string | null
  projectId: string | null
}

type Found = { kind: AnyUndoKind; state: object; needs: Action }

/** How it can be undone, or why not. */
export function wayBack(ctx: Context, entry: UndoableEntry): Found | string {
  const kind = UNDO[entry.undoAction ?? entry.action]
  if (kind === undefined) return 'it is not known how'
  if (typeof kind === 'string') return kind
  if (entry.at < ctx.now() - UNDO_MS) return 'it is older than 30 days'
  const state = findUndoState(ctx.db.orm, entry.id)
  if (typeof state !== 'object' || state === null) return whyStateless(entry.action)
  const root = UNDO[entry.rootAction ?? entry.action]
  const { needs } = typeof root === 'object' ? root : kind
  return { kind, state, needs: typeof needs === 'function' ? needs(state) : needs }
}

const whyStateless = (action: string): string =>
  /^alias\.(move|create)$/.test(action)
    ? 'a publish is rolled back instead'
    : 'it changed nothing that could be taken back, or was made before changes could be undone'

/** The grant for a change that needs `action`, in the workspace or on the project of the entry. */
export const grantFor = (ctx: Context, caller: Caller, action: Action, projectId: string | null): Grant => ({
  ...authorize(ctx, caller, action, isOnProject(action) ? { projectId } : undefined, false),
  projectId,
})

const isOnProject = (action: Action): action is ProjectAction => action in PROJECT_ACTIONS

export function mayUndo(ctx: Context, caller: Caller, entry: UndoableEntry): boolean {
  const way = wayBack(ctx, entry)
  if (typeof way === 'string') return false
  try {
    grantFor(ctx, caller, way.needs, entry.projectId)
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
