import type { PipelineConfig } from '../../../pipelines/language/model.ts'
import { secretNames } from '../../../pipelines/language/references.ts'
import { flushRuns } from '../../runs/service.ts'
import type { ProjectCause } from '../cause.ts'
import { listFailingRules, listNamingRules, listSecretNames } from '../queries.ts'

const IN_A_ROW = 3

/** Pipelines whose last runs all failed. */
export const failingRules: ProjectCause = (ctx, projectIds) => {
  flushRuns(ctx)
  return listFailingRules(ctx.db, projectIds, IN_A_ROW).map(
    ({ projectId, id, pathPattern, status, startedAt }) => ({
      code: 'rule-failing',
      severity: 'error',
      projectId,
      message: `The last ${IN_A_ROW} runs of the rule ${pathPattern} failed, the newest with ${status}.`,
      href: `/projects/${projectId}/rules/runs/${id}`,
      needs: 'project:read',
      at: startedAt,
    }),
  )
}

/** Rules that name a secret or the value of a header that is not set. */
export const missingSecrets: ProjectCause = (ctx, projectIds) => {
  const set = new Set(
    listSecretNames(ctx.db, projectIds).map(({ projectId, name }) => keyOf(projectId, name)),
  )
  return listNamingRules(ctx.db, projectIds).flatMap((rule) => {
    const { id, projectId, pathPattern, pipelineConfig, headerConfig, updatedAt } = rule
    const secrets = rule.proxyType === 'pipeline' ? secretsIn(id, pipelineConfig) : []
    const missing = [
      ...secrets.filter((name) => !set.has(keyOf(projectId, name))).map((name) => `the secret ${name}`),
      ...unsetHeaders(headerConfig).map((name) => `a value for the header ${name}`),
    ]
    if (missing.length === 0) return []
    return {
      code: 'secret-missing',
      severity: 'warn',
      projectId,
      message: `The rule ${pathPattern} needs ${listed(missing)}: not set.`,
      href: `/projects/${projectId}/rules/${id}`,
      needs: 'project:read',
      at: updatedAt,
    }
  })
}

const keyOf = (projectId: string, name: string): string => `${projectId}/${name}`

const MAX_KEPT = 2_000
const kept = new Map<string, string[]>()

/** Kept by the rule and a hash of its text, which may be long: the projects are looked at often, their rules change rarely. */
function secretsIn(ruleId: string, config: string | null): string[] {
  if (config === null) return []
  const key = `${ruleId} ${Bun.hash(config)}`
  const known = kept.get(key)
  if (known !== undefined) return known
  if (kept.size >= MAX_KEPT) kept.clear()
  const names = secretNames(JSON.parse(config) as PipelineConfig)
  kept.set(key, names)
  return names
}

const unsetHeaders = (config: string | null): string[] => {
  const { add = {} } = config === null ? {} : (JSON.parse(config) as { add?: Record<string, string> })
  return Object.keys(add).filter((name) => add[name] === '')
}

const MAX_NAMED = 5

const listed = (names: readonly string[]): string =>
  names.length <= MAX_NAMED
    ? names.join(' and ')
    : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`
