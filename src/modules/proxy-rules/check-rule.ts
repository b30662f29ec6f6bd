import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { parsePathPattern } from '../../domain/path-pattern.ts'
import { validatePipelineConfig } from '../../pipelines/validate.ts'
import type { RuleRow } from './queries.ts'

/** Throws 400 with all that is wrong with a rule in itself; its target and its headers are looked at elsewhere. */
export function checkRule(rule: RuleRow): void {
  const details = flawsOfRule(rule)
  if (details[0] !== undefined)
    throw new AppError('invalid', `${details[0].path}: ${details[0].message}`, { details })
}

export function flawsOfRule(rule: RuleRow): ErrorDetail[] {
  const parsed = parsePathPattern(rule.pathPattern)
  const pattern = parsed.ok ? [] : [{ path: 'pathPattern', message: parsed.error }]
  return [...pattern, ...(rule.proxyType === 'pipeline' ? flawsOfPipeline(rule) : flawsOfTarget(rule))]
}

/** What the API stores although this version does not know it; of somebody who types it is a typo. contract §9.1. */
export function unknownInPipeline({ proxyType, pipelineConfig }: RuleRow): ErrorDetail[] {
  if (proxyType !== 'pipeline' || pipelineConfig === null) return []
  return validatePipelineConfig(JSON.parse(pipelineConfig)).warnings.map(({ path, message }) => ({
    path: `pipelineConfig.${path}`,
    message,
  }))
}

/** What a check throws, as details; a refusal without any is about `path`. */
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
  if (pipelineConfig === null) return [{ path: 'pipelineConfig', message: 'A pipeline has a list of steps' }]
  const { errors } = validatePipelineConfig(JSON.parse(pipelineConfig))
  return errors.map(({ path, message }) => ({
    path: `pipelineConfig${path === '' ? '' : `.${path}`}`,
    message,
  }))
}
