import type { Context } from '../../context.ts'
import type { RuleLevel, RuleRecord } from './queries.ts'

export type { RuleRecord } from './queries.ts'

/**
 * The rules that the site engine tries for an alias (null: a deployment by its SHA), in order, including disabled ones.
 * Most sites have none, and the first visitor after a start must not wait for drizzle to load.
 */
export function listRulesFor(ctx: Context, level: RuleLevel): RuleRecord[] {
  if (!hasRules(ctx, level.projectId)) return []
  const { listRulesOfLevel } = require('./queries.ts') as typeof import('./queries.ts')
  return listRulesOfLevel(ctx.db.orm, level)
}

const hasRules = ({ db }: Context, projectId: string): boolean =>
  db.sqlite.query('SELECT 1 FROM proxy_rules WHERE project_id = ? LIMIT 1').get(projectId) !== null
