import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { Actor } from '../../domain/actor.ts'
import { listRulesOfAlias, type RuleRow } from '../proxy-rules/rules-of-alias.ts'
import { listSetIdsOfAlias } from '../rule-sets/attached-sets.ts'
import { listSchedulesOfRules, type ScheduleRow } from '../schedules/of-rules.ts'
import { aboutChange } from './about.ts'
import { tellOfMove } from './moves.ts'
import { type AliasRow, deleteAliasRow, findLabelOf, type HistoryRow, listHistory } from './queries.ts'

/** All of an alias, so that it can come back: `setIds` in the order in which they are tried. */
export type RemovedAlias = {
  alias: AliasRow
  label: string | null
  history: HistoryRow[]
  rules: RuleRow[]
  /** Of these rules. Earlier versions did not store them. */
  schedules?: ScheduleRow[]
  setIds: string[]
}

/** The newest moves that come back with it. */
const KEPT_MOVES = 1000

/** Deletes an alias that is no preview and that no domain needs, in the caller's transaction. */
export function removeAlias(ctx: Context, tx: DbOrTx, actor: Actor, alias: AliasRow): void {
  const rules = listRulesOfAlias(tx, alias.projectId, alias.id)
  const undo: RemovedAlias = {
    alias,
    label: findLabelOf(tx, { aliasId: alias.id }) ?? null,
    history: listHistory(tx, alias.id, KEPT_MOVES).map(({ exists: _, ...row }) => row),
    rules,
    schedules: listSchedulesOfRules(
      tx,
      rules.map(({ id }) => id),
    ),
    setIds: listSetIdsOfAlias(tx, alias.id),
  }
  tellOfMove(ctx, tx, actor, { before: alias, after: undefined }, 'delete')
  deleteAliasRow(ctx.db, alias.id)
  audit(ctx, tx, actor, { ...aboutChange('alias.delete', alias), before: alias, undo })
}
