import type { Context } from '../../context.ts'
import { actorRef } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { Actor } from '../../domain/actor.ts'
import { listSetRules } from '../proxy-rules/set-rules.ts'
import type { ExportedSchedule } from '../schedules/model.ts'
import { exportedSchedules } from '../schedules/pushed.ts'
import { insertRevision, listRevisions, type RuleSetRow } from './queries.ts'
import { type ExportedRule, toExportedRule } from './view.ts'

/** contract §9.2. */
export const MAX_REVISIONS = 20

/** The content of a set at a revision: no header values, and of schemas only the names (a rollback keeps them). */
type RevisionContent = {
  ruleSet: { description: string | null; environment: string | null }
  rules: ExportedRule[]
  schemas: string[]
  /** Earlier versions did not store them. */
  schedules?: ExportedSchedule[]
  /** What made it. Earlier versions did not store it. */
  trigger?: 'sync' | 'rollback'
  source?: { repo: string | null; path: string | null }
}

/** Stores the current state of the set, and deletes revisions that are too old. */
export function keepRevision(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  set: RuleSetRow,
  { trigger, schemas }: { trigger: 'sync' | 'rollback'; schemas: readonly string[] },
): void {
  const content: RevisionContent = {
    ruleSet: { description: set.description, environment: set.environment },
    rules: listSetRules(tx, set.id).map(toExportedRule),
    schemas: [...schemas],
    schedules: exportedSchedules(tx, set.id),
    trigger,
    source: { repo: set.sourceRepo, path: set.sourcePath },
  }
  const row = {
    id: ctx.newId(),
    ruleSetId: set.id,
    content: JSON.stringify(content),
    gitSha: set.sourceGitSha,
    createdBy: actorRef(actor),
    createdAt: ctx.now(),
  }
  insertRevision(tx, row, MAX_REVISIONS)
}

/** Names of the schemas in the last push. */
export function lastSchemaNames(db: DbOrTx, setId: string): string[] {
  const [last] = listRevisions(db, setId, 1)
  return last === undefined ? [] : parseContent(last.content).schemas
}

export const parseContent = (json: string): RevisionContent => JSON.parse(json) as RevisionContent
