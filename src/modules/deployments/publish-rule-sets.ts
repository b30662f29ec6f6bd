import type { Actor, Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { attachToAlias } from '../rule-sets/service.ts'

/** Rule sets that an upload names, to be attached to the alias that it sets. */
export type RuleSetChoice = { names: readonly string[]; ids: readonly string[] }

/**
 * Attaches the rule sets to the alias in the order named, in the transaction that publishes. One that the project does
 * not have is `invalid`, and nothing is published. `aliasId` is null where the alias is locked: they are only looked up.
 */
export function attachRuleSets(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  to: { projectId: string; aliasId: string | null },
  choice: RuleSetChoice,
): void {
  attachToAlias(ctx, tx, actor, to, choice)
}
