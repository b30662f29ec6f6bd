import type { DbOrTx } from '../../db/open.ts'
import { listHandMade, type RuleRow } from './queries.ts'

export type { RuleRow } from './queries.ts'
export { insertRule } from './queries.ts'

/** The hand-made rules of an alias, for one that is deleted and may come back. */
export const listRulesOfAlias = (db: DbOrTx, projectId: string, aliasId: string): RuleRow[] =>
  listHandMade(db, { projectId, aliasId }).map(({ origin: _, ...rule }) => rule)
