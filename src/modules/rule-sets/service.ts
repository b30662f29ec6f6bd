import type { Context } from '../../context.ts'
import { actorViews } from '../../db/actor-names.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction, refuseTaken } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { AppError } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { aboutRow, authorizeAgain, type Grant, mayDo, within } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import { secretsBeyond } from '../proxy-rules/secret-rights.ts'
import { listSetRules } from '../proxy-rules/set-rules.ts'
import { clockOf } from '../schedules/clock.ts'
import type { ExportedSchedule } from '../schedules/model.ts'
import { exportedSchedules, readSchedules, type ScheduleDraft } from '../schedules/pushed.ts'
import { listSchemas } from '../schemas/service.ts'
import { countsOf, hasChanges } from './apply-rules.ts'
import { replaceAliases } from './attachments.ts'
import { checkTargets } from './check-targets.ts'
import type { RevisionView, RollbackAnswer, RuleSetChange, RuleSetView, RuleSetWithRules } from './model.ts'
import { type RuleDraft, readRules } from './push.ts'
import {
  deleteSet,
  findRevision,
  findSet,
  listAttachments,
  listRevisions,
  listSets,
  type RevisionRow,
  type RuleSetRow,
  updateSet,
} from './queries.ts'
import { inRehearsal } from './rehearse.ts'
import { keepRevision, lastSchemaNames, MAX_REVISIONS, parseContent } from './revisions.ts'
import { type AppliedSet, applySet, changesSchedules, scheduleCounts } from './schedules-of-push.ts'
import { resolveSchemaIds, schemaNamesOf } from './schemas-of-push.ts'
import { type ExportedRule, toExportedRule, toRuleView, toSetViews } from './view.ts'

export { attachToAlias, type RuleSetChoice } from './attachments.ts'
export type { RevisionView, RuleSetView, RuleSetWithRules } from './model.ts'
export { aliasesWithRules, placeRuleSets, ruleSetsOfAlias } from './sets-of-alias.ts'
export { syncRuleSet } from './sync.ts'

export function listRuleSets(ctx: Context, grant: Grant): RuleSetView[] {
  return toSetViews(ctx.db.orm, listSets(ctx.db.orm, projectOf(ctx, grant).id))
}

export function getRuleSet(ctx: Context, grant: Grant, id: string): RuleSetWithRules {
  const set = getRuleSetRow(ctx.db.orm, grant, id)
  const [view] = toSetViews(ctx.db.orm, [set])
  if (view === undefined) throw noSuchSet()
  const maySee = mayDo(ctx, grant.caller, 'secret:read', set.projectId)
  return { ...view, rules: listSetRules(ctx.db.orm, id).map((rule) => toRuleView(ctx, set, rule, maySee)) }
}

type ExportedSet = {
  ruleSet: { name: string; description: string | null; environment: string | null }
  rules: ExportedRule[]
  schemas: { name: string; fields: unknown[] }[]
  schedules: ExportedSchedule[]
  source: { repo: string | null; gitSha: string | null; path: string | null } | null
}

/** The set as a push that would change nothing. Header values are empty, which keeps them. */
export function exportRuleSet(ctx: Context, grant: Grant, id: string): ExportedSet {
  const { db } = ctx
  const set = getRuleSetRow(db.orm, grant, id)
  const rules = listSetRules(db.orm, id).map(toExportedRule)
  const used = rules.flatMap(({ pipelineConfig }) => schemaNamesOf(pipelineConfig))
  const wanted = new Set([...lastSchemaNames(db.orm, id), ...used])
  const { name, description, environment, sourceRepo: repo, sourceGitSha: gitSha, sourcePath: path } = set
  return {
    ruleSet: { name, description, environment },
    rules,
    schemas: listSchemas(ctx, grant).flatMap((one) =>
      wanted.has(one.name) ? [{ name: one.name, fields: one.fields }] : [],
    ),
    schedules: exportedSchedules(db.orm, id),
    source: repo === null && gitSha === null && path === null ? null : { repo, gitSha, path },
  }
}

/**
 * `aliases` is the complete list of aliases to attach the set to. With the first one, the set is no longer live on the
 * project. Only `liveOn` brings it back, which fails for a preview and for a set that is attached to an alias. Throws
 * 404 for an unknown alias.
 */
export function changeRuleSet(
  ctx: Context,
  grant: Grant,
  id: string,
  change: RuleSetChange,
): RuleSetWithRules {
  if (isEmpty(given(change))) return getRuleSet(ctx, grant, id)
  inTransaction(ctx.db, (tx) => {
    const before = getRuleSetRow(tx, grant, id)
    const { aliases, liveOn, ...plain } = change
    const patch = given(plain)
    refuseTaken(`The project already has a rule set ${change.name ?? before.name}`, () =>
      updateSet(tx, id, { ...patch, updatedAt: ctx.now() }),
    )
    if (aliases !== undefined) replaceAliases(ctx, tx, grant.actor, before, aliases)
    if (liveOn !== undefined) placeSet(tx, getRuleSetRow(tx, grant, id), liveOn)
    audit(ctx, tx, grant.actor, {
      ...about('rule_set.change', before),
      before: summary(before),
      after: change,
    })
  })
  return getRuleSet(ctx, grant, id)
}

/** Deletes the set with its rules. Throws 409 naming the aliases it is attached to. */
export function deleteRuleSet(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const set = getRuleSetRow(tx, grant, id)
    const aliases = listAttachments(tx, [id]).map(({ alias }) => alias)
    if (aliases.length > 0)
      throw new AppError(
        'conflict',
        `${set.name} is attached to ${aliases.join(', ')}: detach it there first`,
      )
    deleteSet(tx, id)
    audit(ctx, tx, grant.actor, { ...about('rule_set.delete', set), before: summary(set) })
  })
}

/** The state of the set after each push that changed it, newest first. */
export function listRuleSetRevisions(ctx: Context, grant: Grant, id: string): RevisionView[] {
  const rows = listRevisions(ctx.db.orm, getRuleSetRow(ctx.db.orm, grant, id).id, MAX_REVISIONS)
  const now = JSON.stringify(listSetRules(ctx.db.orm, id).map(toExportedRule))
  const schedulesNow = JSON.stringify(exportedSchedules(ctx.db.orm, id))
  const viewOf = actorViews(
    ctx.db.orm,
    rows.map(({ createdBy }) => createdBy),
  )
  return rows.map(({ id: revisionId, gitSha, content, createdBy, createdAt }) => {
    const { rules, schedules, trigger = 'sync', source = { repo: null, path: null } } = parseContent(content)
    const hasSameSchedules = schedules === undefined || JSON.stringify(schedules) === schedulesNow
    const isKnown = gitSha !== null || source.repo !== null || source.path !== null
    return {
      id: revisionId,
      gitSha,
      source: isKnown ? { ...source, gitSha } : null,
      trigger,
      current: JSON.stringify(rules) === now && hasSameSchedules,
      ruleCount: rules.length,
      schedules: schedules?.map(({ name }) => name) ?? null,
      createdBy: viewOf(createdBy),
      createdAt: isoTime(createdAt),
    }
  })
}

/**
 * Restores the rules of a revision. Rules that still exist keep their stored header values; those of deleted rules are
 * lost. Schemas and records do not change. A dry run only tells what would. Throws 404 for a revision of another set.
 */
export async function rollbackRuleSet(
  ctx: Context,
  grant: Grant,
  id: string,
  revisionId: string,
  isDryRun = false,
): Promise<RollbackAnswer> {
  const revision = findRevision(ctx.db.orm, getRuleSetRow(ctx.db.orm, grant, id).id, revisionId)
  if (revision === undefined) throw new AppError('not_found', 'The rule set has no such revision')
  const { rules, schedules } = parseContent(revision.content)
  const { drafts, warnings } = readRules(rules)
  const scheduleDrafts = schedules === undefined ? null : readSchedules(schedules)
  await checkTargets(ctx, drafts)
  const { currentGrant, applied } = inRehearsal(ctx.db, isDryRun, (tx) => {
    const currentGrant = authorizeAgain(ctx, grant, 'traffic:configure')
    return {
      currentGrant,
      applied: restore(ctx, tx, currentGrant, id, revision, { rules: drafts, schedules: scheduleDrafts }),
    }
  })
  if (!isDryRun) void clockOf(ctx).changed()
  for (const message of applied.warnings) warnings.add(message)
  const answer = {
    ...applied.rules,
    schedules: applied.schedules,
    warnings: warnings.lines(),
    schemaResolutions: [],
    dryRun: isDryRun,
    setCreated: false,
  }
  return { ...getRuleSet(ctx, currentGrant, id), ruleSetId: id, ...answer }
}

function restore(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  id: string,
  revision: RevisionRow,
  drafts: { rules: readonly RuleDraft[]; schedules: readonly ScheduleDraft[] | null },
): AppliedSet {
  const { ruleSet, schemas } = parseContent(revision.content)
  const before = getRuleSetRow(tx, grant, id)
  const maySeeValues = mayDo(ctx, grant.caller, 'secret:read', before.projectId)
  const rules = resolveSchemaIds(ctx, grant, drafts.rules, new Map())
  const beyond = secretsBeyond(ctx, tx, grant, before.projectId)
  const applied = applySet(ctx, tx, before, { ...drafts, rules }, { prune: true, maySeeValues, beyond })
  const isRedescribed =
    before.description !== ruleSet.description || before.environment !== ruleSet.environment
  if (!hasChanges(applied.rules) && !changesSchedules(applied.schedules) && !isRedescribed) return applied
  const patch = { ...ruleSet, sourceGitSha: revision.gitSha, updatedAt: ctx.now() }
  updateSet(tx, id, patch)
  keepRevision(ctx, tx, grant.actor, { ...before, ...patch }, { trigger: 'rollback', schemas })
  audit(ctx, tx, grant.actor, {
    ...about('rule_set.rollback', before),
    after: { revisionId: revision.id, ...countsOf(applied.rules), ...scheduleCounts(applied.schedules) },
  })
  return applied
}

/** For routes that name a rule set in the path. */
export const aboutRuleSet = (ctx: Context, id: string | undefined): { projectId: string | null } =>
  aboutRow(ctx, id, findSet)

function placeSet(tx: DbOrTx, set: RuleSetRow, liveOn: 'project' | 'aliases'): void {
  const refused = (message: string) =>
    new AppError('invalid', message, { details: [{ path: 'liveOn', message }] })
  if (liveOn === 'project' && set.isPreview)
    throw refused('A preview can be live only on aliases it is attached to')
  if (liveOn === 'project' && listAttachments(tx, [set.id]).length > 0)
    throw refused('A set that is attached to an alias is live only there: detach it first')
  updateSet(tx, set.id, { liveOn })
}

function getRuleSetRow(db: DbOrTx, grant: Grant, id: string): RuleSetRow {
  const set = within(grant, findSet(db, id))
  if (set === undefined) throw noSuchSet()
  return set
}

const noSuchSet = () => new AppError('not_found', 'There is no such rule set')

const about = (action: string, { id, name, projectId }: RuleSetRow) => ({
  action,
  target: { kind: 'rule_set', id, name },
  projectId,
})

const summary = ({ name, description, environment, liveOn }: RuleSetRow) => ({
  name,
  description,
  environment,
  liveOn,
})
