import type { Context } from '../../context.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { parsePathPattern } from '../../domain/path-pattern.ts'
import { findSourceError, findTargetError } from '../../domain/routing/redirect-rule.ts'
import type { PipelineConfig } from '../../pipelines/language/model.ts'
import { validatePipelineConfig } from '../../pipelines/language/validate.ts'
import type { Grant } from '../auth/authorize.ts'
import { listSchemas } from '../schemas/service.ts'
import type { RuleRow } from './queries.ts'
import { knownSchemas, resolveSchemas } from './schema-references.ts'

/**
 * Throws 400 with everything wrong with a rule itself; its target and headers are checked elsewhere. `isKept`: the
 * pipeline is the one that is stored, and not checked again.
 */
export function checkRule(rule: RuleRow, isKept = false): void {
  refuse(flawsOfRule(rule, isKept))
}

/** Throws 400 if a step names a schema that the project does not have. Needs a rule that `checkRule` accepts. */
export function checkSchemas(ctx: Context, grant: Grant, rule: RuleRow): void {
  refuse(flawsOfSchemas(ctx, grant, rule))
}

/** The steps that name a schema, or a field of one, which the project does not have; the rule has no other flaws. */
export function flawsOfSchemas(
  ctx: Context,
  grant: Grant,
  { proxyType, pipelineConfig }: RuleRow,
): ErrorDetail[] {
  if (proxyType !== 'pipeline' || pipelineConfig === null) return []
  const pipeline: PipelineConfig = JSON.parse(pipelineConfig)
  return inPipeline(resolveSchemas(pipeline, knownSchemas(listSchemas(ctx, grant))).unknown)
}

function refuse(details: readonly ErrorDetail[]): void {
  if (details[0] !== undefined)
    throw new AppError('invalid', `${details[0].path}: ${details[0].message}`, { details })
}

export function flawsOfRule(rule: RuleRow, isKept = false): ErrorDetail[] {
  if (rule.proxyType === 'redirect') return flawsOfRedirect(rule)
  const parsed = parsePathPattern(rule.pathPattern)
  const pattern = parsed.ok ? [] : [{ path: 'pathPattern', message: parsed.error }]
  const status = rule.status === null ? [] : [{ path: 'status', message: 'Only a redirect has a status' }]
  const common = [...pattern, ...status]
  if (rule.proxyType !== 'pipeline') return [...common, ...flawsOfTarget(rule)]
  return isKept ? common : [...common, ...flawsOfPipeline(rule)]
}

/** A redirect is read as a line of `_redirects`. contract 13 §6. */
export function flawsOfRedirect({
  pathPattern,
  targetUrl,
}: Pick<RuleRow, 'pathPattern' | 'targetUrl'>): ErrorDetail[] {
  const source = findSourceError(pathPattern)
  const target = findTargetError(targetUrl)
  return [
    ...(source === null ? [] : [{ path: 'pathPattern', message: source }]),
    ...(target === null ? [] : [{ path: 'targetUrl', message: target }]),
  ]
}

/** What the API stores, though this version does not know it or it fails at every run; in a form it is a mistake. contract §9.1. */
export function doubtsOfPipeline({ proxyType, pipelineConfig }: RuleRow): ErrorDetail[] {
  if (proxyType !== 'pipeline' || pipelineConfig === null) return []
  return inPipeline(validatePipelineConfig(JSON.parse(pipelineConfig)).warnings)
}

const inPipeline = (details: readonly ErrorDetail[]): ErrorDetail[] =>
  details.map(({ path, message }) => ({ path: `pipelineConfig${path === '' ? '' : `.${path}`}`, message }))

/** The errors that a check throws, as details. An error without details is reported for `path`. */
export async function detailsOf(path: string, check: () => unknown): Promise<readonly ErrorDetail[]> {
  try {
    await check()
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.details ?? [{ path, message: error.message }]
  }
}

const flawsOfTarget = ({ targetUrl }: RuleRow): ErrorDetail[] =>
  targetUrl === '' ? [{ path: 'targetUrl', message: 'Give the address that requests go to' }] : []

function flawsOfPipeline({ pipelineConfig }: RuleRow): ErrorDetail[] {
  if (pipelineConfig === null)
    return [{ path: 'pipelineConfig', message: 'A pipeline needs a list of steps' }]
  return inPipeline(validatePipelineConfig(JSON.parse(pipelineConfig)).errors)
}
