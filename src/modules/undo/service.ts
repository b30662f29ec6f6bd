import type { Caller, Context } from '../../context.ts'
import { asUndoOf } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { authorize } from '../auth/authorize.ts'
import { asOfNow } from '../auth/caller.ts'
import { type AuditEntry, type AuditRow, entryViews, findAuditRow, undoneByOf } from '../logs/entries.ts'
import { undoCounts } from './counts.ts'
import { grantFor, wayBack } from './entry.ts'
import { cannotUndo } from './kind.ts'

export { undoableChangeOf } from '../../db/audit.ts'
export type { AuditEntry } from '../logs/entries.ts'

/**
 * Undoes what an entry of the audit log says, in one transaction, with one entry of its own. Throws 404 for an entry that the
 * caller may not know, 403 if they may not make that change, 409 (`CANNOT_UNDO`, `ALREADY_UNDONE`, `CHANGED_SINCE`), and
 * whatever the change by hand would throw. contract 17.9.
 */
export async function undoEntry(
  ctx: Context,
  caller: Caller,
  entryId: string,
): Promise<{ undone: string; entry: AuditEntry }> {
  const row = requireKnown(ctx, caller, entryId)
  const first = askWayBack(ctx, caller, row)
  const targetId = row.targetId ?? ''
  if (first.kind.prepare !== undefined) {
    refuseUndone(ctx, row)
    await first.kind.prepare({ ctx, grant: first.grant, targetId }, first.state)
  }
  const undoneBy = inTransaction(ctx.db, (tx) => {
    const { kind, state, ...now } = askWayBack(ctx, asOfNow(ctx, caller), row)
    // The answer names the change of this very actor.
    const grant = { ...now.grant, actor: caller.actor }
    refuseUndone(ctx, row)
    const undone = { id: row.id, root: row.undoRoot ?? row.id, depth: (row.undoDepth ?? 0) + 1 }
    return asUndoOf(undone, () => sayingWhatIsGone(() => kind.undo({ ctx, tx, grant, targetId }, state)))
  })
  first.kind.done?.(ctx)
  undoCounts(ctx).undone += 1
  const [entry] = entryViews(ctx, caller, [requireRow(ctx, undoneBy)])
  if (entry === undefined) throw new Error('The undo of a change made no entry')
  return { undone: row.id, entry }
}

/** An entry as this caller sees it; undefined for one that they may not know. */
export function findEntry(ctx: Context, caller: Caller, entryId: string): AuditEntry | undefined {
  const row = findAuditRow(ctx.db, entryId)
  return row !== undefined && isMaker(caller, row) ? entryViews(ctx, caller, [row])[0] : undefined
}

/** The entry, for whoever made it or may read the audit log that it stands in. */
export function requireKnown(ctx: Context, caller: Caller, entryId: string): AuditRow {
  const row = findAuditRow(ctx.db, entryId)
  if (row !== undefined && isMaker(caller, row)) return row
  if (row?.projectId != null) {
    authorize(ctx, caller, 'audit:read', { projectId: row.projectId }, false)
    return row
  }
  const isAdmin = caller.actor.kind === 'user' && caller.actor.user.role === 'admin'
  if (row === undefined || !isAdmin) throw noSuchEntry()
  return row
}

function isMaker({ actor }: Caller, row: AuditRow): boolean {
  if (actor.kind === 'operator') return true
  if (actor.kind === 'key') return row.actorKind === 'key' && row.actorId === actor.key.id
  return 'user' in actor && row.actorKind === 'user' && row.actorId === actor.user.id
}

function askWayBack(ctx: Context, caller: Caller, row: AuditRow) {
  const rootAction = row.undoRoot === null ? null : (findAuditRow(ctx.db, row.undoRoot)?.action ?? null)
  const way = wayBack(ctx, { ...row, rootAction })
  if (typeof way === 'string') throw cannotUndo(way)
  return { ...way, grant: grantFor(ctx, caller, way.needs, row.projectId) }
}

function refuseUndone(ctx: Context, row: AuditRow): void {
  if (undoneByOf(ctx.db, [row.id]).size > 0)
    throw new AppError('conflict', 'This was undone already: undo that instead', { code: 'ALREADY_UNDONE' })
}

/** The services say 404 of what they do not find; here the address is right, and something else is gone. */
function sayingWhatIsGone(undo: () => void): void {
  try {
    undo()
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found')
      throw cannotUndo(`${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}`)
    throw error
  }
}

function requireRow(ctx: Context, id: string): AuditRow {
  const row = findAuditRow(ctx.db, id)
  if (row === undefined) throw noSuchEntry()
  return row
}

const noSuchEntry = () => new AppError('not_found', 'There is no such entry in the audit log')
