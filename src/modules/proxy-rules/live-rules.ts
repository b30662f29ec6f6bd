import type { Context } from '../../context.ts'
import { hasRules, listRulesOfLevel, type RuleLevel, type RuleRecord } from './queries.ts'

export type { RuleRecord } from './queries.ts'

/** What the site engine tries for an alias (null: a deployment by its SHA), in order, the disabled ones among them. */
export const listRulesFor = (ctx: Context, level: RuleLevel): RuleRecord[] =>
  hasRules(ctx.db, level.projectId) ? listRulesOfLevel(ctx.db.orm, level) : []
