import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction, refuseTaken } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { DEFAULT_REDIRECT_STATUS } from '../../domain/routing/redirect-rule.ts'
import { requireAlias } from '../aliases/service.ts'
import { aboutRow, authorizeAgain, type Grant, mayDo, within } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import { listSchedulesOfRules, type ScheduleRow } from '../schedules/of-rules.ts'
import {
  checkRule,
  checkSchemas,
  detailsOf,
  doubtsOfPipeline,
  flawsOfRule,
  flawsOfSchemas,
} from './check-rule.ts'
import { parseStored, sealHeaderConfig, withoutValues } from './header-values.ts'
import { DEFAULT_TIMEOUT_MS } from './limits.ts'
import { storedMethod, storedMethods } from './methods.ts'
import type { NewRule, RuleChange, RuleView } from './model.ts'
import {
  deleteRuleRow,
  findRule,
  insertRule,
  listHandMade,
  listRulesOfLevel,
  nextOrder,
  type RuleLevel,
  type RulePatch,
  type RuleRecord,
  type RuleRow,
  updateRule,
} from './queries.ts'
import { isRedirected } from './redirected.ts'
import { isProjectAdmin, refuseSecrets, secretsBeyond } from './secret-rights.ts'
import { checkTarget, storedTarget } from './target.ts'
import { changeToUndo } from './undo-fields.ts'
import { toView, withoutSecrets } from './view.ts'

export type { NewRule, RuleView } from './model.ts'
export type { RuleLevel, RuleRecord, RuleRow } from './queries.ts'

/** In the order they are tried. Shows header values only to those who may see them. */
export function listRules(ctx: Context, grant: Grant, level: RuleLevel): RuleView[] {
  requireLevel(ctx, ctx.db.orm, grant, level)
  const maySee = maySeeValues(ctx, grant, level.projectId)
  return listRulesOfLevel(ctx.db.orm, level).map((rule) => toView(ctx.secrets, rule, maySee))
}

export function getRule(ctx: Context, grant: Grant, id: string): RuleView {
  const rule = getRuleRecord(ctx.db.orm, grant, id)
  return toView(ctx.secrets, rule, maySeeValues(ctx, grant, rule.projectId))
}

/**
 * Throws 400 for an invalid pattern, target or header. Without `order` the rule becomes the last of its level. `isIt`: a
 * hand-made rule of the level that makes this one needless, and is returned in its place. `prepare` runs in the same
 * transaction, before it.
 */
export async function createRule(
  ctx: Context,
  grant: Grant,
  level: RuleLevel,
  input: NewRule,
  { isIt = () => false, prepare }: { isIt?: (rule: RuleRow) => boolean; prepare?: () => void } = {},
): Promise<RuleView> {
  const fresh = freshRule(ctx, level, input.pathPattern)
  const written = withStatus({ ...fresh, ...columnsOf(input) }, input)
  const rule: RuleRow = { ...written, headerConfig: sealed(ctx, fresh, input, false) }
  checkRule(rule)
  await checkTarget(ctx, rule)
  const made = inTransaction(ctx.db, (tx) => {
    const currentGrant = authorizeAgain(ctx, grant, 'traffic:configure')
    requireLevel(ctx, tx, grant, level)
    const there = listHandMade(tx, level).find(isIt)
    if (there !== undefined) return { grant: currentGrant, id: there.id }
    prepare?.()
    refuseSecrets(secretsBeyond(ctx, tx, currentGrant, level.projectId), undefined, rule)
    checkSchemas(ctx, grant, rule)
    const isWrittenByAdmin = isProjectAdmin(ctx, currentGrant, level.projectId)
    const placed = { ...rule, order: input.order ?? nextOrder(tx, level), isWrittenByAdmin }
    insertRule(tx, placed)
    audit(ctx, tx, grant.actor, {
      ...aboutRule('proxy_rule.create', rule),
      after: withoutSecrets(placed),
      undo: placed,
    })
    return { grant: currentGrant, id: rule.id }
  })
  return getRule(ctx, made.grant, made.id)
}

/** Throws 404 unless the level belongs to the project of the grant: the project or the alias may be gone by now. */
export function requireLevel(
  ctx: Context,
  db: DbOrTx,
  grant: Grant,
  { projectId, aliasId }: RuleLevel,
): void {
  if (projectOf(ctx, grant, db).id !== projectId) throw new AppError('not_found', 'There is no such project')
  if (aliasId !== null) requireAlias(db, grant, aliasId)
}

/**
 * Changes what `change` names; `headerConfig` is replaced as a whole. If somebody who may not see the stored values
 * redirects them to another server or to another site there, they are dropped. contract §4.
 */
export async function changeRule(
  ctx: Context,
  grant: Grant,
  id: string,
  change: RuleChange,
): Promise<RuleView> {
  if (isEmpty(given(change))) return getRule(ctx, grant, id)
  const stored = getRuleRecord(ctx.db.orm, grant, id)
  const checked = withStatus({ ...stored, ...columnsOf(change) }, change)
  if (hasNewUse(stored, checked)) await checkTarget(ctx, checked)
  const currentGrant = inTransaction(ctx.db, (tx) => {
    const currentGrant = authorizeAgain(ctx, grant, 'traffic:configure')
    const { origin: _, ...before } = getRuleRecord(tx, grant, id)
    const changed = withStatus({ ...before, ...columnsOf(change) }, change)
    if (changed.targetUrl !== checked.targetUrl || changed.proxyType !== checked.proxyType)
      throw new AppError('conflict', 'Somebody else changed this rule just now. Load it again.')
    const isDropped =
      !maySeeValues(ctx, currentGrant, before.projectId) &&
      isRedirected(ctx.secrets, before, { after: changed, headers: change.headerConfig, onEmpty: 'declare' })
    const patch: RulePatch = {
      ...columnsOf(change),
      status: changed.status,
      headerConfig: sealed(ctx, before, change, isDropped),
      isWrittenByAdmin: isProjectAdmin(ctx, currentGrant, before.projectId),
      updatedAt: ctx.now(),
    }
    const isKept = hasSamePipeline(before, changed)
    checkRule({ ...before, ...patch }, isKept)
    refuseSecrets(secretsBeyond(ctx, tx, currentGrant, before.projectId), before, changed)
    if (!isKept) checkSchemas(ctx, grant, changed)
    refuseTaken('The rule set already has a rule with this path and method', () => updateRule(tx, id, patch))
    audit(ctx, tx, grant.actor, {
      ...aboutRule('proxy_rule.change', before),
      before: withoutSecrets(before),
      after: withoutSecrets({ ...before, ...patch }),
      undo: changeToUndo(before, { ...before, ...patch }),
    })
    return currentGrant
  })
  return getRule(ctx, currentGrant, id)
}

/** Everything that keeps a rule from being saved, for a form that is being filled in. `id` null: a new rule. */
export async function findRuleFlaws(
  ctx: Context,
  grant: Grant,
  level: RuleLevel,
  id: string | null,
  input: NewRule,
): Promise<ErrorDetail[]> {
  const before = id === null ? freshRule(ctx, level, input.pathPattern) : getRuleRecord(ctx.db.orm, grant, id)
  const rule = withStatus({ ...before, ...columnsOf(input) }, input)
  const isNew = id === null || hasNewUse(before, rule)
  const target = isNew ? detailsOf('targetUrl', () => checkTarget(ctx, rule)) : []
  const headers = detailsOf('headerConfig', () => sealed(ctx, before, input, false))
  const isKept = hasSamePipeline(before, rule)
  const flaws = flawsOfRule(rule, isKept)
  const beyond = secretsBeyond(ctx, ctx.db.orm, grant, level.projectId)
  const refused = detailsOf('pipelineConfig', () =>
    flaws.length === 0 ? refuseSecrets(beyond, id === null ? undefined : before, rule) : undefined,
  )
  const doubts = rule.pipelineConfig === before.pipelineConfig ? [] : doubtsOfPipeline(rule)
  const schemas = flaws.length === 0 && !isKept ? flawsOfSchemas(ctx, grant, rule) : []
  return [...flaws, ...doubts, ...schemas, ...(await refused), ...(await target), ...(await headers)]
}

/**
 * A stored target is checked again only if the rule is turned on. Its name may lead elsewhere by now, and still somebody
 * must be able to disable the rule. Every connection checks it anyway.
 */
export const hasNewUse = (before: RuleRow, after: RuleRow): boolean =>
  after.targetUrl !== before.targetUrl ||
  after.proxyType !== before.proxyType ||
  (after.isEnabled && !before.isEnabled)

/**
 * A pipeline that was stored is not checked again: its schema may be gone, and still somebody must be able to disable
 * the rule.
 */
export const hasSamePipeline = (before: RuleRow, after: RuleRow): boolean =>
  after.pipelineConfig === before.pipelineConfig && after.proxyType === before.proxyType

/** A rule that may come back, with the schedules that went with it. Earlier versions did not store those. */
export type RemovedRule = RuleRow & { schedules?: ScheduleRow[] }

export function deleteRule(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    removeRule(ctx, tx, grant, id)
  })
}

/** The same in the caller's transaction. */
export function removeRule(ctx: Context, tx: DbOrTx, grant: Grant, id: string): void {
  const { origin: _, ...rule } = getRuleRecord(tx, grant, id)
  const undo: RemovedRule = { ...rule, schedules: listSchedulesOfRules(tx, [id]) }
  deleteRuleRow(tx, id)
  const change = aboutRule('proxy_rule.delete', rule)
  audit(ctx, tx, grant.actor, { ...change, before: withoutSecrets(rule), undo })
}

/** `ruleIds` must name each hand-made rule of the level exactly once; else throws 400 and changes nothing. */
export function reorderRules(
  ctx: Context,
  grant: Grant,
  level: RuleLevel,
  ruleIds: readonly string[],
): RuleView[] {
  inTransaction(ctx.db, (tx) => {
    requireLevel(ctx, tx, grant, level)
    const before = listHandMade(tx, level).map(({ id }) => id)
    const isSame = ruleIds.length === before.length && new Set([...before, ...ruleIds]).size === before.length
    if (!isSame || new Set(ruleIds).size !== ruleIds.length) throw notEveryRule(before.length)
    for (const [order, id] of ruleIds.entries()) updateRule(tx, id, { order, updatedAt: ctx.now() })
    audit(ctx, tx, grant.actor, {
      action: 'proxy_rule.reorder',
      target: levelTarget(ctx, tx, grant, level),
      projectId: level.projectId,
      before,
      after: ruleIds,
      undo: isSameOrder(before, ruleIds) ? undefined : { level, before, after: ruleIds },
    })
  })
  return listRules(ctx, grant, level)
}

/** A rule with only its level and pattern set. */
function freshRule(ctx: Context, level: RuleLevel, pathPattern: string): RuleRow {
  const now = ctx.now()
  return {
    id: ctx.newId(),
    ...level,
    ruleSetId: null,
    pathPattern,
    method: null,
    methods: null,
    proxyType: 'external_proxy',
    targetUrl: '',
    stripPrefix: true,
    order: 0,
    timeoutMs: DEFAULT_TIMEOUT_MS,
    preserveHost: false,
    forwardCookies: false,
    headerConfig: null,
    pipelineConfig: null,
    isEnabled: true,
    debugEnabled: false,
    description: null,
    isWrittenByAdmin: false,
    status: null,
    createdAt: now,
    updatedAt: now,
  }
}

/** For routes that name a rule in the path. */
export const aboutRuleId = (ctx: Context, id: string | undefined): { projectId: string | null } =>
  aboutRow(ctx, id, findRule)

/** The values in `headerConfig.add` are for project admins and above. contract §4. */
export const maySeeValues = (ctx: Context, { caller }: Grant, projectId: string): boolean =>
  mayDo(ctx, caller, 'secret:read', projectId)

function sealed(ctx: Context, rule: RuleRow, change: RuleChange, isDropped: boolean): string | null {
  const stored = parseStored(rule.headerConfig)
  if (change.headerConfig === null) return null
  if (change.headerConfig === undefined) {
    const cleared = stored !== null && isDropped ? withoutValues(stored) : null
    return cleared === null ? rule.headerConfig : JSON.stringify(cleared)
  }
  const { secrets } = ctx
  const options = { secrets, ruleId: rule.id, stored, onEmpty: 'declare', isDropped } as const
  return JSON.stringify(sealHeaderConfig(change.headerConfig, options))
}

/** The given settings as columns, except for the headers. */
function columnsOf(change: RuleChange): Omit<RulePatch, 'headerConfig' | 'updatedAt'> {
  const { targetUrl, pipelineConfig, method, methods, timeout } = change
  const { pathPattern, proxyType, order, stripPrefix, preserveHost, forwardCookies } = change
  const { isEnabled, debugEnabled, description } = change
  return {
    ...given({ pathPattern, proxyType, order, stripPrefix, preserveHost, forwardCookies }),
    ...given({ isEnabled, debugEnabled, description }),
    ...(targetUrl === undefined ? {} : { targetUrl: storedTarget(targetUrl) }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(method === undefined ? {} : { method: storedMethod(method) }),
    ...(methods === undefined ? {} : { methods: storedMethods(methods) }),
    ...(pipelineConfig === undefined
      ? {}
      : { pipelineConfig: pipelineConfig === null ? null : JSON.stringify(pipelineConfig) }),
  }
}

/** A redirect has a status; another kind keeps none, and one that is given with it stays to be refused. */
function withStatus<Rule extends RuleRow>(rule: Rule, { status }: RuleChange): Rule {
  if (rule.proxyType !== 'redirect') return { ...rule, status: status ?? null }
  return { ...rule, status: status ?? (status === null ? null : rule.status) ?? DEFAULT_REDIRECT_STATUS }
}

const isSameOrder = (before: readonly string[], after: readonly string[]): boolean =>
  before.every((id, place) => after[place] === id)

function notEveryRule(count: number): AppError {
  const message = `List each of the ${count} rules of this level that were made by hand exactly once`
  return new AppError('invalid', message, { details: [{ path: 'ruleIds', message }] })
}

export function getRuleRecord(db: DbOrTx, grant: Grant, id: string): RuleRecord {
  const rule = within(grant, findRule(db, id))
  if (rule === undefined) throw new AppError('not_found', 'There is no such proxy rule')
  return rule
}

function levelTarget(ctx: Context, tx: DbOrTx, grant: Grant, { projectId, aliasId }: RuleLevel) {
  if (aliasId !== null) return { kind: 'alias', id: aliasId, name: requireAlias(tx, grant, aliasId).name }
  const { owner, name } = projectOf(ctx, grant, tx)
  return { kind: 'project', id: projectId, name: `${owner}/${name}` }
}

export const aboutRule = (action: string, { id, pathPattern, projectId }: RuleRow) => ({
  action,
  target: { kind: 'proxy_rule', id, name: pathPattern },
  projectId,
})
