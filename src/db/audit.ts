import type { Actor } from '../domain/actor.ts'
import type { DbOrTx } from './open.ts'
import { auditLog } from './schema-audit.ts'

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
}

/** Where times and ids come from. */
type Source = { now: () => number; newId: () => string }

/** Records who changed what, in the same transaction as the change. */
export function audit(ctx: Source, tx: DbOrTx, actor: Actor, change: Change): void {
  tx.insert(auditLog)
    .values({
      id: ctx.newId(),
      at: ctx.now(),
      ...identify(actor),
      action: change.action,
      targetKind: change.target.kind,
      targetId: change.target.id,
      targetName: change.target.name,
      projectId: change.projectId ?? null,
      before: asJson(change.before),
      after: asJson(change.after),
    })
    .run()
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
