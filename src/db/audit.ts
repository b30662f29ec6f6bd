import type { Actor, Context } from '../context.ts'
import type { DbOrTx } from './open.ts'
import { auditLog } from './schema.ts'

type Change = {
  /** `project.create`, `alias.move`: noun and verb. */
  action: string
  target: { kind: string; id: string | null }
  projectId?: string | null
  /** The record before and after, without secrets: values of keys, passwords and headers never come here. */
  before?: unknown
  after?: unknown
}

/** Writes who changed what, in the transaction of the change itself. */
export function audit(ctx: Pick<Context, 'now' | 'newId'>, tx: DbOrTx, actor: Actor, change: Change): void {
  tx.insert(auditLog)
    .values({
      id: ctx.newId(),
      at: ctx.now(),
      ...identify(actor),
      action: change.action,
      targetKind: change.target.kind,
      targetId: change.target.id,
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
      return {
        actorKind: actor.kind,
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

const asJson = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value)

/** Who a record says made it: `user:<id>`, `key:<id>` or `operator`. */
export function actorRef(actor: Actor): string {
  if (actor.kind === 'user') return `user:${actor.user.id}`
  return actor.kind === 'key' ? `key:${actor.key.id}` : actor.kind
}
