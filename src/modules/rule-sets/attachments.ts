import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { Actor } from '../../domain/actor.ts'
import { AppError } from '../../domain/errors.ts'
import { findAliasByName } from '../aliases/service.ts'
import {
  attach,
  detach,
  findSet,
  findSetByName,
  isAttached,
  listAttachments,
  type RuleSetRow,
} from './queries.ts'

/** Rule sets by name and by id. */
export type RuleSetChoice = { names: readonly string[]; ids: readonly string[] }

/**
 * Attaches the named sets to an alias, after the sets it already has, in the given order. Sets it already has keep
 * their place. Throws 400 for a set that the project does not have. `aliasId` null: only checks that the sets exist.
 */
export function attachToAlias(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  { projectId, aliasId }: { projectId: string; aliasId: string | null },
  { names, ids }: RuleSetChoice,
): void {
  const sets = [
    ...names.map((name) => findSetByName(tx, projectId, name) ?? unknown('proxyRuleSetName', name)),
    ...ids.map((id) => setOfProject(tx, projectId, id) ?? unknown('proxyRuleSetId', id)),
  ]
  if (aliasId === null) return
  for (const set of sets) {
    if (isAttached(tx, aliasId, set.id)) continue
    attach(tx, aliasId, set.id)
    audit(ctx, tx, actor, { ...about('rule_set.attach', set), after: { aliasId } })
  }
}

/** Makes `names` the complete list of the set's aliases. Throws 404 for one that the project does not have. */
export function replaceAliases(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  set: RuleSetRow,
  names: readonly string[],
): void {
  const wanted = names.map((name) => {
    const alias = findAliasByName(ctx, set.projectId, name)
    if (alias === undefined) throw new AppError('not_found', `The project has no alias ${name}`)
    return alias.id
  })
  for (const { aliasId } of listAttachments(tx, [set.id])) {
    if (wanted.includes(aliasId)) continue
    detach(tx, aliasId, set.id)
    audit(ctx, tx, actor, { ...about('rule_set.detach', set), before: { aliasId } })
  }
  for (const aliasId of new Set(wanted))
    attachToAlias(ctx, tx, actor, { projectId: set.projectId, aliasId }, { names: [], ids: [set.id] })
}

const about = (action: string, { id, name, projectId }: RuleSetRow) => ({
  action,
  target: { kind: 'rule_set', id, name },
  projectId,
})

function setOfProject(tx: DbOrTx, projectId: string, id: string): RuleSetRow | undefined {
  const set = findSet(tx, id)
  return set?.projectId === projectId ? set : undefined
}

function unknown(path: string, given: string): never {
  const message = `The project has no rule set ${JSON.stringify(given)}`
  throw new AppError('invalid', message, { details: [{ path, message }] })
}
