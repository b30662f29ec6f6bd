import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import {
  openHeaderValues,
  parseStored,
  type StoredHeaderConfig,
  sealHeaderConfig,
} from '../proxy-rules/header-values.ts'
import type { RuleRow } from '../proxy-rules/service.ts'
import { originOf } from '../proxy-rules/target.ts'
import { identityOf, nameOf, type RuleDraft } from './push.ts'
import { deleteSetRule, insertSetRule, listSetRules, type RuleSetRow, updateSetRule } from './queries.ts'

export type Applied = {
  created: number
  updated: number
  deleted: number
  unchanged: number
  /** On the server and not among the drafts, where they were not deleted. */
  pruneCandidates: { pathPattern: string; method: string | null }[]
  /** Headers that were declared and have no value. */
  missingSecrets: string[]
}

type ApplyOptions = {
  prune: boolean
  /** Who may not see the stored values may not take them to another target. contract §4. */
  maySeeValues: boolean
}

/** Makes the rules of the set what the drafts say. What is the same already is not written. */
export function applyRules(
  ctx: Context,
  tx: DbOrTx,
  set: Pick<RuleSetRow, 'id' | 'projectId'>,
  drafts: readonly RuleDraft[],
  options: ApplyOptions,
): Applied {
  const stored = new Map(listSetRules(tx, set.id).map((row) => [identityOf(row), row]))
  const applied: Applied = {
    created: 0,
    updated: 0,
    deleted: 0,
    unchanged: 0,
    pruneCandidates: [],
    missingSecrets: [],
  }
  const missing = new Set<string>()
  for (const draft of drafts) {
    const before = stored.get(identityOf(draft))
    stored.delete(identityOf(draft))
    const outcome = writeRule(ctx, tx, set, draft, before, options, missing)
    applied[outcome] += 1
  }
  for (const row of stored.values()) {
    if (options.prune) deleteSetRule(tx, row.id)
    else applied.pruneCandidates.push({ pathPattern: row.pathPattern, method: row.method })
  }
  return { ...applied, deleted: options.prune ? stored.size : 0, missingSecrets: [...missing] }
}

function writeRule(
  ctx: Context,
  tx: DbOrTx,
  set: Pick<RuleSetRow, 'id' | 'projectId'>,
  draft: RuleDraft,
  before: RuleRow | undefined,
  { maySeeValues }: ApplyOptions,
  missing: Set<string>,
): 'created' | 'updated' | 'unchanged' {
  const { index, headers: _, pipeline, ...columns } = draft
  const id = before?.id ?? ctx.newId()
  const isMoved = before !== undefined && originOf(before.targetUrl) !== originOf(draft.targetUrl)
  const headerConfig = sealedOf(ctx, id, draft, before, isMoved && !maySeeValues)
  for (const [name, sealed] of Object.entries(headerConfig?.add ?? {})) if (sealed === '') missing.add(name)
  const content = {
    ...columns,
    headerConfig: headerConfig === null ? null : JSON.stringify(headerConfig),
    pipelineConfig: pipeline === null ? null : JSON.stringify(pipeline),
  }
  if (before === undefined) {
    const now = ctx.now()
    const owner = { id, projectId: set.projectId, aliasId: null, ruleSetId: set.id }
    insertSetRule(tx, { ...owner, ...content, createdAt: now, updatedAt: now })
    return 'created'
  }
  const keys = Object.keys(content) as (keyof typeof content)[]
  if (keys.every((key) => content[key] === before[key])) return 'unchanged'
  updateSetRule(tx, id, { ...content, updatedAt: ctx.now() })
  return 'updated'
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

/** Sealing the same value again gives another text: where the value is the stored one, its text stays. */
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
