import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { isSamePipeline } from '../../pipelines/language/same-pipeline.ts'
import {
  openHeaderValues,
  parseStored,
  type StoredHeaderConfig,
  sealHeaderConfig,
} from '../proxy-rules/header-values.ts'
import { isRedirected } from '../proxy-rules/redirected.ts'
import { refuseSecrets } from '../proxy-rules/secret-rights.ts'
import type { RuleRow } from '../proxy-rules/service.ts'
import { deleteRuleRow, insertRule, listSetRules, updateRule } from '../proxy-rules/set-rules.ts'
import type { Applied, AppliedRule } from './model.ts'
import { identityOf, type RuleDraft } from './push.ts'
import type { RuleSetRow } from './queries.ts'
import { nameOf } from './rule-name.ts'

export type ApplyOptions = {
  prune: boolean
  /** Those who may not see the stored values may not send them to another target. contract §4. */
  maySeeValues: boolean
  /** The secrets that rules of this push may not use. contract 12.8. */
  beyond: ReadonlySet<string>
  /** With the rules that stay, before the others go. */
  beforePrune?: (kept: RuleRow[]) => void
}

/** Changes the rules of the set to match the drafts. Unchanged rules are not written. */
export function applyRules(
  ctx: Context,
  tx: DbOrTx,
  set: Pick<RuleSetRow, 'id' | 'projectId'>,
  drafts: readonly RuleDraft[],
  options: ApplyOptions,
): Applied {
  const stored = new StoredRules(listSetRules(tx, set.id))
  const applied: Applied = {
    created: [],
    updated: [],
    deleted: [],
    unchanged: [],
    pruneCandidates: [],
    missingSecrets: [],
  }
  const missing = new Set<string>()
  const { maySeeValues, beyond } = options
  const writing: Writing = { ctx, tx, set, maySeeValues, beyond, missing }
  for (const draft of drafts) {
    applied[writeRule(writing, draft, stored.take(draft))].push(appliedRule(draft))
  }
  const goesAway = new Set(options.prune ? [...stored.left].map(({ id }) => id) : [])
  options.beforePrune?.(listSetRules(tx, set.id).filter(({ id }) => !goesAway.has(id)))
  for (const row of stored.left) {
    if (options.prune) deleteRuleRow(tx, row.id)
    applied[options.prune ? 'deleted' : 'pruneCandidates'].push(appliedRule(row))
  }
  return { ...applied, missingSecrets: [...missing] }
}

/** The rules of a set by identity. A set of before may hold two spellings of one rule: the same spelling comes first. */
class StoredRules {
  readonly left: Set<RuleRow>
  readonly #byIdentity: Map<string, RuleRow[]>

  constructor(rows: readonly RuleRow[]) {
    this.left = new Set(rows)
    this.#byIdentity = Map.groupBy(rows, identityOf)
  }

  /** The row that the draft replaces; it is no longer left. */
  take(draft: RuleDraft): RuleRow | undefined {
    const rows = this.#byIdentity.get(identityOf(draft)) ?? []
    const row = rows.find(({ pathPattern }) => pathPattern === draft.pathPattern) ?? rows[0]
    if (row !== undefined) this.left.delete(row)
    return row
  }
}

const appliedRule = ({ pathPattern, method }: AppliedRule): AppliedRule => ({ pathPattern, method })

/** How many rules were changed in each way. */
export const countsOf = ({ created, updated, deleted }: Applied) => ({
  created: created.length,
  updated: updated.length,
  deleted: deleted.length,
})

export const hasChanges = ({ created, updated, deleted }: Applied): boolean =>
  created.length + updated.length + deleted.length > 0

/** The context for writing the rules of a push. `missing` collects the headers without a value. */
type Writing = {
  ctx: Context
  tx: DbOrTx
  set: Pick<RuleSetRow, 'id' | 'projectId'>
  maySeeValues: boolean
  beyond: ReadonlySet<string>
  missing: Set<string>
}

function writeRule(
  { ctx, tx, set, maySeeValues, beyond, missing }: Writing,
  draft: RuleDraft,
  before: RuleRow | undefined,
): 'created' | 'updated' | 'unchanged' {
  const { index, headers, pipeline, ...columns } = draft
  const id = before?.id ?? ctx.newId()
  const isDropped =
    before !== undefined &&
    !maySeeValues &&
    isRedirected(ctx.secrets, before, { after: draft, headers, onEmpty: 'keep' })
  const headerConfig = sealedOf(ctx, id, draft, before, isDropped)
  for (const [name, sealed] of Object.entries(headerConfig?.add ?? {})) if (sealed === '') missing.add(name)
  // A rule of another kind may hold any object there: it was never checked.
  const knownPipeline = before?.proxyType === 'pipeline' ? before.pipelineConfig : null
  const content = {
    ...columns,
    headerConfig: storedText(headerConfig, before?.headerConfig, isDeepStrictEqual),
    pipelineConfig: storedText(pipeline, knownPipeline, isSamePipeline),
  }
  refuseSecrets(beyond, before, content)
  // Only project admins and above may see the values.
  const isWrittenByAdmin = maySeeValues
  if (before === undefined) {
    const now = ctx.now()
    const owner = { id, projectId: set.projectId, aliasId: null, ruleSetId: set.id }
    insertRule(tx, { ...owner, ...content, isWrittenByAdmin, createdAt: now, updatedAt: now })
    return 'created'
  }
  const keys = Object.keys(content) as (keyof typeof content)[]
  if (keys.every((key) => content[key] === before[key])) return 'unchanged'
  updateRule(tx, id, { ...content, isWrittenByAdmin, updatedAt: ctx.now() })
  return 'updated'
}

/** Keeps the stored text if the meaning is the same. */
function storedText<T>(
  value: T | null,
  stored: string | null | undefined,
  isSame: (a: T, b: T) => boolean,
): string | null {
  if (value === null) return null
  return stored && isSame(value, JSON.parse(stored)) ? stored : JSON.stringify(value)
}

function sealedOf(
  ctx: Context,
  ruleId: string,
  draft: RuleDraft,
  before: RuleRow | undefined,
  isDropped: boolean,
): StoredHeaderConfig | null {
  if (draft.headers === null) return null
  const stored = parseStored(before?.headerConfig ?? null)
  const options = { secrets: ctx.secrets, ruleId, stored, onEmpty: 'keep', isDropped } as const
  const fresh = naming(draft, () => sealHeaderConfig(draft.headers ?? {}, options))
  return isDropped ? fresh : keepSealed(ctx, ruleId, stored, fresh)
}

/** Sealing the same value again gives a different text, so the stored text is kept if the value is unchanged. */
function keepSealed(
  { secrets }: Context,
  ruleId: string,
  stored: StoredHeaderConfig | null,
  fresh: StoredHeaderConfig,
): StoredHeaderConfig {
  if (stored?.add === undefined || fresh.add === undefined) return fresh
  const known = openHeaderValues(secrets, ruleId, stored)
  const given = openHeaderValues(secrets, ruleId, fresh)
  const add = Object.entries(fresh.add).map(([name, sealed]) => {
    const isSame = sealed !== '' && known[name] !== undefined && known[name] === given[name]
    return [name, isSame ? (stored.add?.[name] ?? sealed) : sealed]
  })
  return { ...fresh, add: Object.fromEntries(add) }
}

function naming<T>(draft: RuleDraft, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.kind, `${nameOf(draft)}: ${error.message}`, {
      code: error.code,
      details: (error.details ?? []).map(({ path, message }) => ({
        path: `rules[${draft.index}].${path}`,
        message,
      })),
    })
  }
}
