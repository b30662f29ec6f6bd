import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import { secretNames } from '../../pipelines/language/references.ts'
import { authorizeAgain, type Grant, mayDo } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import { secretsBeyond } from '../proxy-rules/secret-rights.ts'
import { clockOf } from '../schedules/clock.ts'
import { readSchedules, type ScheduleDraft } from '../schedules/pushed.ts'
import { secretNamesOf } from '../secrets/service.ts'
import { countsOf, hasChanges } from './apply-rules.ts'
import { checkTargets } from './check-targets.ts'
import type { Push, Source, SyncAnswer } from './model.ts'
import { type RuleDraft, readRules } from './push.ts'
import { findSetByName, insertSet, listSets, type RuleSetRow, updateSet } from './queries.ts'
import { inRehearsal } from './rehearse.ts'
import { keepRevision, lastSchemaNames } from './revisions.ts'
import { type AppliedSet, applySet, changesSchedules, scheduleCounts } from './schedules-of-push.ts'
import { mergeSchemas, resolveSchemaIds } from './schemas-of-push.ts'
import type { Warnings } from './warnings.ts'

/**
 * Applies a push to a rule set and its schemas, all or nothing. Repeating the same push changes nothing. A dry run
 * returns what would happen. Throws 400 naming each invalid rule, target or schema.
 */
export async function syncRuleSet(ctx: Context, grant: Grant, push: Push): Promise<SyncAnswer> {
  const read = { ...readRules(push.rules), schedules: push.schedules ? readSchedules(push.schedules) : null }
  await checkTargets(ctx, read.drafts)
  const isDryRun = push.options?.dryRun === true
  const answer = inRehearsal(ctx.db, isDryRun, (tx) =>
    applyPush(ctx, tx, authorizeAgain(ctx, grant, 'traffic:configure'), push, read),
  )
  if (isDryRun) return withoutNewIds(answer)
  void clockOf(ctx).changed()
  return answer
}

/** Leaves out the ids of what was rolled back. */
const withoutNewIds = (answer: SyncAnswer): SyncAnswer => ({
  ...answer,
  dryRun: true,
  ruleSetId: answer.setCreated ? null : answer.ruleSetId,
  schemaResolutions: answer.schemaResolutions.map((one) =>
    one.action === 'create' ? { ...one, targetSchemaId: null } : one,
  ),
})

function applyPush(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  push: Push,
  { drafts, warnings, schedules }: ReturnType<typeof readRules> & { schedules: ScheduleDraft[] | null },
): SyncAnswer {
  const { id: projectId } = projectOf(ctx, grant, tx)
  const { prune = false, strictSchemas = false } = push.options ?? {}
  const schemas = push.schemas ?? []
  const merged = mergeSchemas(ctx, tx, grant.actor, projectId, schemas, strictSchemas)
  const resolved = resolveSchemaIds(ctx, grant, drafts, merged.byPushedId)
  const before = findSetByName(tx, projectId, push.ruleSet.name)
  const made = before ?? addSet(ctx, tx, projectId, push)
  const maySeeValues = mayDo(ctx, grant.caller, 'secret:read', projectId)
  const beyond = secretsBeyond(ctx, tx, grant, projectId)
  const applied = applySet(ctx, tx, made, { rules: resolved, schedules }, { prune, maySeeValues, beyond })
  const hasNewContent = merged.isChanged || hasChanges(applied.rules) || changesSchedules(applied.schedules)
  const set = describeSet(ctx, tx, made, { push, hasNewContent })
  const setCreated = before === undefined
  if (setCreated || set.isRedescribed || hasNewContent) {
    const earlier = setCreated ? [] : lastSchemaNames(tx, set.id)
    const names = [...new Set([...earlier, ...schemas.map(({ name }) => name)])]
    keepRevision(ctx, tx, grant.actor, set, { trigger: 'sync', schemas: names })
    auditPush(ctx, tx, grant, set, applied, setCreated)
  }
  for (const message of [...merged.warnings, ...applied.warnings, ...(setCreated ? previewWarning(set) : [])])
    warnings.add(message)
  warnOfSecrets(tx, projectId, drafts, warnings)
  return {
    ruleSetId: set.id,
    ...applied.rules,
    schemaResolutions: merged.resolutions,
    schedules: applied.schedules,
    warnings: warnings.lines(),
    dryRun: false,
    setCreated,
  }
}

/** Warns now: a pipeline without its secret fails only when it runs, perhaps after the response. */
function warnOfSecrets(
  tx: DbOrTx,
  projectId: string,
  drafts: readonly RuleDraft[],
  warnings: Warnings,
): void {
  const stored = secretNamesOf(tx, projectId)
  for (const draft of drafts)
    for (const name of draft.pipeline === null ? [] : secretNames(draft.pipeline))
      if (!stored.has(name))
        warnings.addOf(
          draft,
          `the project has no secret ${name.slice(0, 100)}; until it is set its value is null`,
        )
}

function auditPush(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  { id, projectId, name, sourceGitSha: gitSha }: RuleSetRow,
  { rules, schedules }: AppliedSet,
  isNew: boolean,
): void {
  audit(ctx, tx, grant.actor, {
    action: isNew ? 'rule_set.create' : 'rule_set.sync',
    target: { kind: 'rule_set', id, name },
    projectId,
    after: { name, ...countsOf(rules), ...scheduleCounts(schedules), gitSha },
  })
}

const PREVIEW = /^-(pr|preview|dev)(-|$)/

/** A name that starts with that of another set and continues like a preview's is a preview. contract §9.2. */
function isPreviewName(tx: DbOrTx, projectId: string, name: string): boolean {
  return listSets(tx, projectId).some(
    (other) => name.startsWith(other.name) && PREVIEW.test(name.slice(other.name.length)),
  )
}

function addSet(ctx: Context, tx: DbOrTx, projectId: string, { ruleSet }: Push): RuleSetRow {
  const isPreview = isPreviewName(tx, projectId, ruleSet.name)
  const row: RuleSetRow = {
    id: ctx.newId(),
    projectId,
    name: ruleSet.name,
    description: ruleSet.description ?? null,
    environment: ruleSet.environment ?? null,
    isPreview,
    liveOn: isPreview ? 'aliases' : 'project',
    sourceRepo: null,
    sourcePath: null,
    sourceGitSha: null,
    syncedAt: null,
    createdAt: ctx.now(),
    updatedAt: ctx.now(),
  }
  insertSet(tx, row)
  return row
}

/** Stores what the push says about the set, and when. `isRedescribed`: description or label changed. */
function describeSet(
  ctx: Context,
  tx: DbOrTx,
  set: RuleSetRow,
  { push, hasNewContent }: { push: Push; hasNewContent: boolean },
): RuleSetRow & { isRedescribed: boolean } {
  const described = {
    description: push.ruleSet.description ?? null,
    environment: push.ruleSet.environment ?? null,
  }
  const isRedescribed = set.description !== described.description || set.environment !== described.environment
  const patch = { ...described, ...sourceColumns(push.source) }
  const isSame =
    !hasNewContent &&
    set.syncedAt !== null &&
    (Object.keys(patch) as (keyof typeof patch)[]).every((key) => patch[key] === set[key])
  if (isSame) return { ...set, isRedescribed: false }
  const dated = { ...patch, syncedAt: ctx.now(), updatedAt: ctx.now() }
  updateSet(tx, set.id, dated)
  return { ...set, ...dated, isRedescribed }
}

const sourceColumns = (source: Source | null | undefined) => ({
  sourceRepo: source?.repo ?? null,
  sourcePath: source?.path ?? null,
  sourceGitSha: source?.gitSha ?? null,
})

const previewWarning = ({ name, isPreview }: RuleSetRow): string[] =>
  isPreview ? [`${name} is a preview copy by its name: it is live only on aliases that you attach it to`] : []
