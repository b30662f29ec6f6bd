import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { parsePathPattern } from '../../domain/path-pattern.ts'
import { validatePipelineConfig } from '../../pipelines/validate.ts'
import type { RuleRow } from './queries.ts'

/** Throws 400 with everything wrong with a rule itself; its target and headers are checked elsewhere. */
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

/** Keys that this version does not know but the API stores; in a form they are typos. contract §9.1. */
export function unknownInPipeline({ proxyType, pipelineConfig }: RuleRow): ErrorDetail[] {
  if (proxyType !== 'pipeline' || pipelineConfig === null) return []
  return validatePipelineConfig(JSON.parse(pipelineConfig)).warnings.map(({ path, message }) => ({
    path: `pipelineConfig.${path}`,
    message,
  }))
}

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
  const { errors } = validatePipelineConfig(JSON.parse(pipelineConfig))
  return errors.map(({ path, message }) => ({
    path: `pipelineConfig${path === '' ? '' : `.${path}`}`,
    message,
  }))
}
