import { asc, eq, isNotNull, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { aliases, domains, hostLabels, projects } from '../../db/schema.ts'

type ProvenHost = { host: string; projectId: string }

/** Proven domains, the first of every project before the second of any: nobody waits for a project with very many. */
export function listProvenHosts(db: DbOrTx): ProvenHost[] {
  const rank = sql`row_number() OVER (PARTITION BY ${domains.projectId} ORDER BY ${domains.verifiedAt})`
  return db
    .select({ host: domains.hostname, projectId: domains.projectId })
    .from(domains)
    .where(isNotNull(domains.verifiedAt))
    .orderBy(rank, domains.verifiedAt)
    .all()
}

/** Labels of the aliases that everybody may see, the oldest first. */
export function listPublicAliasLabels(db: DbOrTx): string[] {
  return db
    .select({ label: hostLabels.label })
    .from(aliases)
    .innerJoin(hostLabels, eq(hostLabels.aliasId, aliases.id))
    .innerJoin(projects, eq(projects.id, aliases.projectId))
    .where(sql`coalesce(${aliases.isPublic}, ${projects.isPublic}) = 1`)
    .orderBy(asc(aliases.createdAt), asc(aliases.id))
    .all()
    .map(({ label }) => label)
}

/** Whether the label is that of an alias; those of deployments are not. */
export function isAliasLabel(db: DbOrTx, label: string): boolean {
  const found = db
    .select({ aliasId: hostLabels.aliasId })
    .from(hostLabels)
    .where(eq(hostLabels.label, label))
    .get()
  return found !== undefined && found.aliasId !== null
}
