import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { literalPrefix, parsePathPattern, patternKey } from '../../domain/path-pattern.ts'
import { DEFAULT_REDIRECT_STATUS } from '../../domain/routing/redirect-rule.ts'
import { AUTH_IS_LEFT_OUT, isApiOfOriginal, warningOfOriginal } from '../../domain/target-shape.ts'
import type { PipelineConfig, PipelineStep } from '../../pipelines/language/model.ts'
import { validatePipelineConfig } from '../../pipelines/language/validate.ts'
import { flawsOfRedirect } from '../proxy-rules/check-rule.ts'
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from '../proxy-rules/limits.ts'
import { storedMethod, storedMethods } from '../proxy-rules/methods.ts'
import type { HeaderConfig } from '../proxy-rules/model.ts'
import type { NewRule, RuleRow } from '../proxy-rules/service.ts'
import { storedTarget } from '../proxy-rules/target.ts'
import { nameOf } from './rule-name.ts'
import { Warnings } from './warnings.ts'

/** A rule of a push with every setting decided; `headers` as given, not sealed yet. */
export type RuleDraft = Omit<
  RuleRow,
  | 'id'
  | 'projectId'
  | 'aliasId'
  | 'ruleSetId'
  | 'headerConfig'
  | 'pipelineConfig'
  | 'isWrittenByAdmin'
  | 'createdAt'
  | 'updatedAt'
> & { index: number; headers: HeaderConfig | null; pipeline: PipelineConfig | null }

/** Decides the settings of each rule of a push. Throws 400 with all errors of all rules. */
export function readRules(rules: readonly NewRule[]): { drafts: RuleDraft[]; warnings: Warnings } {
  const details: ErrorDetail[] = []
  const warnings = new Warnings()
  const drafts: RuleDraft[] = []
  const seen = new Set<string>()
  for (const [index, rule] of rules.entries()) {
    const problem = (key: string, message: string) =>
      tell(details, { path: `rules[${index}].${key}`, message: `${nameOf(rule)}: ${message}` })
    if (pointsAtOwnAuth(rule)) {
      warnings.addOf(rule, AUTH_IS_LEFT_OUT)
      continue
    }
    const draft = draftOf(rule, index, problem, (text, place) => warnings.addOf(rule, text, place))
    if (seen.has(identityOf(draft)))
      problem('pathPattern', 'the push has two rules with this path and method')
    seen.add(identityOf(draft))
    drafts.push(draft)
  }
  if (details[0] !== undefined) throw new AppError('invalid', details[0].message, { details })
  return { drafts, warnings }
}

const MAX_TOLD = 1000
const MORE_FLAWS: ErrorDetail = { path: 'rules', message: 'and more like these' }

/** Adds a flaw of a push. Keeps the first thousand, so that the response does not outgrow the request. */
function tell(told: ErrorDetail[], one: ErrorDetail): void {
  if (told.length < MAX_TOLD) told.push(one)
  else if (told.length === MAX_TOLD) told.push(MORE_FLAWS)
}

/** A rule keeps its identity as long as path and method stay the same, however the path is spelled. contract 12.1. */
export const identityOf = ({ pathPattern, method }: Pick<RuleRow, 'pathPattern' | 'method'>): string =>
  `${method ?? ''} ${patternKey(pathPattern)}`

type Problem = (key: string, message: string) => void
type Warn = (message: string, place?: string) => void

function draftOf(rule: NewRule, index: number, problem: Problem, warn: Warn): RuleDraft {
  const proxyType = rule.proxyType ?? typeOf(rule)
  if (proxyType === 'redirect') checkRedirect(rule, problem)
  else checkPattern(rule, problem)
  if (proxyType !== 'pipeline' && proxyType !== 'redirect' && !rule.targetUrl)
    problem('targetUrl', 'give the address that requests go to')
  if (proxyType === 'external_proxy' && isApiOfOriginal(rule.targetUrl ?? ''))
    warn(warningOfOriginal(rule.targetUrl ?? ''))
  if (proxyType === 'pipeline' && !rule.pipelineConfig)
    problem('pipelineConfig', 'give the steps of the pipeline')
  return {
    index,
    pathPattern: rule.pathPattern,
    method: storedMethod(rule.method),
    methods: storedMethods(rule.methods),
    proxyType,
    status: proxyType === 'redirect' ? (rule.status ?? DEFAULT_REDIRECT_STATUS) : null,
    targetUrl: proxyType === 'pipeline' ? '' : storedTarget(rule.targetUrl ?? ''),
    stripPrefix: rule.stripPrefix ?? true,
    order: rule.order ?? index,
    timeoutMs: timeoutOf(rule.timeout ?? DEFAULT_TIMEOUT_MS, warn),
    preserveHost: rule.preserveHost ?? false,
    forwardCookies: rule.forwardCookies ?? false,
    headers: rule.headerConfig ?? null,
    pipeline: proxyType === 'pipeline' ? pipelineOf(rule.pipelineConfig, problem, warn) : null,
    isEnabled: rule.isEnabled ?? true,
    debugEnabled: rule.debugEnabled ?? false,
    description: rule.description ?? null,
  }
}

function checkRedirect({ pathPattern, targetUrl = '' }: NewRule, problem: Problem): void {
  for (const { path, message } of flawsOfRedirect({ pathPattern, targetUrl })) problem(path, message)
}

function checkPattern({ pathPattern, status }: NewRule, problem: Problem): void {
  const parsed = parsePathPattern(pathPattern)
  if (!parsed.ok) problem('pathPattern', parsed.error)
  if (status !== undefined && status !== null) problem('status', 'only a redirect has a status')
}

function typeOf({ pipelineConfig, targetUrl }: NewRule): RuleRow['proxyType'] {
  if (pipelineConfig) return 'pipeline'
  return targetUrl?.startsWith('/') === true ? 'internal_rewrite' : 'external_proxy'
}

function timeoutOf(timeoutMs: number, warn: Warn): number {
  if (timeoutMs <= MAX_TIMEOUT_MS) return timeoutMs
  warn(`the timeout of ${timeoutMs} ms was set to ${MAX_TIMEOUT_MS}`)
  return MAX_TIMEOUT_MS
}

function pipelineOf(given: unknown, problem: Problem, warn: Warn): PipelineConfig | null {
  if (!given) return null
  const { errors, warnings } = validatePipelineConfig(given)
  for (const { path, message } of errors)
    problem(`pipelineConfig${path === '' ? '' : `.${path}`}`, `${path} ${message}`.trim())
  for (const { path, message } of warnings) warn(message, path)
  return errors.length > 0 ? null : canonical(given as PipelineConfig)
}

/** The known keys in a fixed order, so that the same pipeline has the same text. */
function canonical({ name, description, validators, steps, postSteps }: PipelineConfig): PipelineConfig {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(validators === undefined
      ? {}
      : // An unknown key stays: it never lets anybody pass.
        {
          validators: validators.map(({ type, config, ...unknown }) => ({
            type,
            ...(config ? { config } : {}),
            ...unknown,
          })),
        }),
    steps: steps.map(canonicalStep),
    ...(postSteps === undefined ? {} : { postSteps: postSteps.map(canonicalStep) }),
  }
}

function canonicalStep({ id, name, handlerType, config, isEnabled }: PipelineStep): PipelineStep {
  return {
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    handlerType,
    ...(config === undefined ? {} : { config }),
    ...(isEnabled === undefined ? {} : { isEnabled }),
  }
}

/** A rule that sends `/api/auth` to a server on this machine, as development set-ups do. contract §9.2. */
function pointsAtOwnAuth({
  pathPattern,
  proxyType,
  targetUrl,
  stripPrefix,
  pipelineConfig,
}: NewRule): boolean {
  if (proxyType === 'redirect' || pipelineConfig || targetUrl === undefined || !URL.canParse(targetUrl))
    return false
  const { hostname, pathname } = new URL(targetUrl)
  if (hostname !== 'localhost') return false
  const parsed = parsePathPattern(pathPattern)
  const kept = stripPrefix === false && parsed.ok ? literalPrefix(parsed.pattern) : ''
  return /^\/api\/auth(\/|$)/.test(pathname.replace(/\/$/, '') + kept)
}
