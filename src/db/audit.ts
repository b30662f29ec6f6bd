import type { Actor } from '../domain/actor.ts'
import type { DbOrTx } from './open.ts'
import { auditLog } from './schema-audit.ts'
import { insertUndoState } from './undo-states.ts'

/** `name` is what people call it, at the time of the change. */
type Target = { kind: string; id: string | null; name: string | null }

type Change = {
  /** Noun and verb: `project.create`, `alias.move`. */
  action: string
  target: Target
  projectId?: string | null
  /** The record before and after, without secrets: never pass values of keys, passwords or headers. */
  before?: unknown
  after?: unknown
  /** What the registry of `modules/undo` needs to undo it; without, it cannot be undone. */
  undo?: object | undefined
}

/** Where times and ids come from. */
type Source = { now: () => number; newId: () => string }

/** Records who changed what, in the same transaction as the change. */
export function audit(ctx: Source, tx: DbOrTx, actor: Actor, change: Change): void {
  const entry = { id: ctx.newId(), at: ctx.now(), projectId: change.projectId ?? null }
  const undone = change.undo === undefined ? undefined : takeUndone(entry.id)
  tx.insert(auditLog)
    .values({
      ...entry,
      ...identify(actor),
      action: undone === undefined ? change.action : 'undo',
      undoOf: undone?.id ?? null,
      undoRoot: undone?.root ?? null,
      undoDepth: undone?.depth ?? null,
      undoAction: undone === undefined ? null : change.action,
      targetKind: change.target.kind,
      targetId: change.target.id,
      targetName: change.target.name,
      before: asJson(change.before),
      after: asJson(change.after),
    })
    .run()
  if (change.undo === undefined) return
  insertUndoState(tx, entry, change.undo)
  undoable.set(actor, entry.id)
}

/** The newest change of a caller that can be undone: callers are made anew for each request. */
const undoable = new WeakMap<Actor, string>()

/** The entry of what the caller of a request changed, if it can be undone. */
export const undoableChangeOf = (actor: Actor): string | undefined => undoable.get(actor)

/** The entry that is being undone, by transactions that never wait: the first change that can be undone is its undo. */
let undoing: { undone: Undone; undoneBy: string | undefined } | undefined

/** The entry that is undone; the first one if that is an undo itself, and how far away that is: 1 for the entry itself. */
type Undone = { id: string; root: string; depth: number }

/** Runs a change that undoes an entry: its own entry says so. Returns the id of that entry. */
export function asUndoOf(undone: Undone, change: () => void): string {
  const mine: NonNullable<typeof undoing> = { undone, undoneBy: undefined }
  undoing = mine
  try {
    change()
  } finally {
    undoing = undefined
  }
  if (mine.undoneBy === undefined) throw new Error('The undo of a change made no entry')
  return mine.undoneBy
}

function takeUndone(entryId: string): Undone | undefined {
  if (undoing === undefined || undoing.undoneBy !== undefined) return undefined
  undoing.undoneBy = entryId
  return undoing.undone
}

function identify(actor: Actor) {
  switch (actor.kind) {
    case 'anonymous':
      return { actorKind: actor.kind, actorId: null, actorName: null, credential: 'none', ip: actor.ip }
    case 'user':
    case 'cli':
      return {
        actorKind: 'user',
        actorId: actor.user.id,
        actorName: actor.user.email,
        credential: `session ${actor.sessionId}`,
        ip: actor.ip,
      }
    case 'key':
      return {
        actorKind: actor.kind,
        actorId: actor.key.id,
        actorName: actor.key.name,
        credential: `key ${actor.key.id}`,
        ip: actor.ip,
      }
    case 'operator':
      return { actorKind: actor.kind, actorId: null, actorName: null, credential: 'data directory', ip: null }
  }
}

/** Who caused something, for those who are told of it. */
export function actorFacts(actor: Actor): { kind: string; id: string | null; name: string | null } {
  const { actorKind, actorId, actorName } = identify(actor)
  return { kind: actorKind, id: actorId, name: actorName }
}

const asJson = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value)

/** The reference to a record's creator: `user:<id>`, `key:<id>` or `operator`. */
export function actorRef(actor: Actor): string {
  if (actor.kind === 'user' || actor.kind === 'cli') return `user:${actor.user.id}`
  return actor.kind === 'key' ? `key:${actor.key.id}` : actor.kind
}
