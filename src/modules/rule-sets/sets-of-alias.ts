import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { requireAlias } from '../aliases/service.ts'
import type { Grant } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import type { RuleSetView } from './model.ts'
import {
  attach,
  detach,
  findSet,
  listRuledAliases,
  listSetsOfAlias,
  placeSet,
  type RuledAlias,
} from './queries.ts'
import { toSetViews } from './view.ts'

/** Aliases that have their own rules or an attached rule set, by name. */
export const aliasesWithRules = (ctx: Context, grant: Grant): RuledAlias[] =>
  listRuledAliases(ctx.db.orm, projectOf(ctx, grant).id)

/** The sets attached to an alias, in the order in which they are tried. */
export const ruleSetsOfAlias = (ctx: Context, grant: Grant, aliasId: string): RuleSetView[] =>
  toSetViews(ctx.db.orm, listSetsOfAlias(ctx.db.orm, requireAlias(ctx.db.orm, grant, aliasId).id))

/**
 * Attaches exactly `setIds` to an alias, in this order. Throws 400 for a set that the project does not have, or that is
 * named twice.
 */
export function placeRuleSets(ctx: Context, grant: Grant, aliasId: string, setIds: readonly string[]): void {
  inTransaction(ctx.db, (tx) => {
    const { name, projectId } = requireAlias(tx, grant, aliasId)
    const isKnown = setIds.every((id) => findSet(tx, id)?.projectId === projectId)
    if (!isKnown || new Set(setIds).size !== setIds.length)
      throw new AppError(
        'invalid',
        'Each rule set must belong to this project and appear only once. Load the page again.',
      )
    const before = listSetsOfAlias(tx, aliasId).map(({ id }) => id)
    for (const id of before) if (!setIds.includes(id)) detach(tx, aliasId, id)
    for (const id of setIds) if (!before.includes(id)) attach(tx, aliasId, id)
    for (const [position, id] of setIds.entries()) placeSet(tx, aliasId, id, position)
    audit(ctx, tx, grant.actor, {
      action: 'rule_set.place',
      target: { kind: 'alias', id: aliasId, name },
      projectId,
      before,
      after: setIds,
    })
  })
}
