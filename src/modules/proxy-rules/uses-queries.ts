import { and, asc, eq } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { aliases } from '../../db/schema.ts'
import { proxyRules, ruleSets } from '../../db/schema-rules.ts'

/** Every pipeline of a project, whether or not it is live, with the names of where it belongs. */
export const listPipelineRows = (db: DbOrTx, projectId: string) =>
  db
    .select({
      ruleId: proxyRules.id,
      pathPattern: proxyRules.pathPattern,
      method: proxyRules.method,
      methods: proxyRules.methods,
      isEnabled: proxyRules.isEnabled,
      pipelineConfig: proxyRules.pipelineConfig,
      ruleSet: ruleSets.name,
      alias: aliases.name,
    })
    .from(proxyRules)
    .leftJoin(ruleSets, eq(ruleSets.id, proxyRules.ruleSetId))
    .leftJoin(aliases, eq(aliases.id, proxyRules.aliasId))
    .where(and(eq(proxyRules.projectId, projectId), eq(proxyRules.proxyType, 'pipeline')))
    .orderBy(asc(proxyRules.pathPattern), asc(proxyRules.method), asc(proxyRules.id))
    .all()
