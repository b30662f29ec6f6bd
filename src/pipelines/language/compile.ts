import type { ErrorDetail } from '../../domain/errors.ts'
import {
  type Expression,
  ExpressionError,
  evaluate,
  ITEM,
  isAbsentInItem,
  parseExpression,
  type Scope,
} from './expressions.ts'
import { BodyTemplate, Each, type Handler } from './handler.ts'
import { type PipelineConfig, type PipelineStep, stepIdOf } from './model.ts'
import { findHandler, type KnownHandler } from './registry.ts'
import { hasTags, parseTemplate, renderTemplate, type Template } from './templates.ts'

/** A value of a configuration, with its texts parsed. */
type CompiledValue =
  | { kind: 'constant'; value: unknown }
  | { kind: 'expression'; expression: Expression }
  | { kind: 'template'; template: Template }
  | { kind: 'list'; items: readonly CompiledValue[] }
  | { kind: 'object'; entries: readonly (readonly [string, CompiledValue])[] }
  | { kind: 'each'; value: CompiledValue; written: unknown }

export type CompiledStep = {
  id: string
  name: string | null
  handlerType: string
  /** Undefined for a handler that this version does not know. */
  handler: KnownHandler | undefined
  isEnabled: boolean
  condition: { value: CompiledValue; isNegated: boolean } | null
  config: CompiledValue
  /** The problems of the configuration; a step with any fails when it runs. */
  problems: readonly ErrorDetail[]
}

type CompiledPipeline = { steps: readonly CompiledStep[]; postSteps: readonly CompiledStep[] }

const MAX_DEPTH = 20
const compiled = new WeakMap<PipelineConfig, CompiledPipeline>()

/** Parses the configuration of a pipeline, once for each configuration object. */
export function compilePipeline(config: PipelineConfig): CompiledPipeline {
  const known = compiled.get(config)
  if (known !== undefined) return known
  const made = {
    steps: config.steps.map((step, i) => compileStep(step, stepIdOf(step, 'steps', i))),
    postSteps: (config.postSteps ?? []).map((step, i) => compileStep(step, stepIdOf(step, 'postSteps', i))),
  }
  compiled.set(config, made)
  return made
}

/** The paths of `problems` begin with `config`. */
export function compileStep(step: PipelineStep, id: string): CompiledStep {
  const handler = findHandler(step.handlerType)
  const problems: ErrorDetail[] = []
  const { condition, ...written } = step.config ?? {}
  const config = handler?.prepare?.(written) ?? written
  return {
    id,
    name: step.name ?? null,
    handlerType: step.handlerType,
    handler,
    isEnabled: step.isEnabled ?? true,
    condition: condition === undefined || condition === null ? null : compileCondition(condition, problems),
    config: compileValue(config, ['config'], handler, problems),
    problems,
  }
}

/** The value in this run. */
export function resolveValue(value: CompiledValue, scope: Scope): unknown {
  switch (value.kind) {
    case 'constant':
      return value.value
    case 'expression':
      return evaluate(value.expression, scope)
    case 'template':
      return renderTemplate(value.template, scope)
    case 'list':
      return value.items.map((item) => resolveValue(item, scope))
    case 'object':
      return Object.fromEntries(value.entries.map(([key, inner]) => [key, resolveValue(inner, scope)]))
    case 'each':
      return eachOf(value, scope)
  }
}

function eachOf({ value, written }: Extract<CompiledValue, { kind: 'each' }>, scope: Scope): Each {
  let outputs: Record<string, unknown> | undefined
  const root: Scope['root'] = (name) => (name === 'steps' ? outputs : scope.root(name))
  const inItem: Scope = { ...scope, root }
  return new Each(written, (item) => {
    outputs ??= Object.assign(Object.create(null), scope.root('steps'))
    Object.assign(outputs ?? {}, { [ITEM]: item })
    return resolveValue(withoutAbsent(value, inItem), inItem)
  })
}

function withoutAbsent(value: CompiledValue, scope: Scope): CompiledValue {
  if (value.kind !== 'object') return value
  const isThere = (inner: CompiledValue) =>
    inner.kind !== 'expression' || !isAbsentInItem(inner.expression, scope)
  return { kind: 'object', entries: value.entries.filter(([, inner]) => isThere(inner)) }
}

/** Whether the step should run: any truthy value in the sense of JavaScript. */
export function holdsCondition(condition: CompiledStep['condition'], scope: Scope): boolean {
  if (condition === null) return true
  return Boolean(resolveValue(condition.value, scope)) !== condition.isNegated
}

function compileCondition(condition: unknown, problems: ErrorDetail[]): CompiledStep['condition'] {
  if (typeof condition !== 'string')
    return { value: { kind: 'constant', value: condition }, isNegated: false }
  const [bangs = ''] = /^[\s!]*/.exec(condition) ?? []
  const isNegated = bangs.replaceAll(/\s/g, '').length % 2 === 1
  const value = compileText(condition.slice(bangs.length), ['config', 'condition'], problems)
  return { value, isNegated }
}

function compileValue(
  value: unknown,
  path: readonly string[],
  handler: Handler | undefined,
  problems: ErrorDetail[],
): CompiledValue {
  if (typeof value === 'string')
    return handler?.isLiteral?.(path.slice(1), value) === true
      ? constantOf(isBody(path) ? new BodyTemplate(value) : value)
      : compileText(value, path, problems)
  if (typeof value !== 'object' || value === null) return { kind: 'constant', value }
  if (path.length > MAX_DEPTH) {
    problems.push({ path: pathText(path), message: `is nested more than ${MAX_DEPTH} levels deep` })
    return { kind: 'constant', value: null }
  }
  if (Array.isArray(value)) {
    const items = value.map((item, i) => compileValue(item, [...path, String(i)], handler, problems))
    return folded({ kind: 'list', items }, items)
  }
  const entries = Object.entries(value).map(([key, inner]) => {
    const compiled = compileValue(inner, [...path, key], handler, problems)
    const isEach = path.length === 1 && handler?.forEach?.includes(key) === true
    return [key, isEach ? ({ kind: 'each', value: compiled, written: inner } as const) : compiled] as const
  })
  return folded(
    { kind: 'object', entries },
    entries.map(([, inner]) => inner),
  )
}

const isBody = (path: readonly string[]): boolean => path.length === 2 && path[1] === 'body'

/** Folds a value of nothing but constants into one. Runs share it, so handlers must not modify what they receive. */
function folded(value: CompiledValue, parts: readonly CompiledValue[]): CompiledValue {
  return parts.every(({ kind }) => kind === 'constant') ? constantOf(resolveValue(value, NO_SCOPE)) : value
}

const constantOf = (value: unknown): CompiledValue => ({ kind: 'constant', value })

/** Constants look up nothing. */
const NO_SCOPE: Scope = { root: () => null, secret: () => null, now: () => '', uuid: () => '' }

/** Compiles a text as a template if it contains `{{`, otherwise as an expression. contract §9.3. */
function compileText(text: string, path: readonly string[], problems: ErrorDetail[]): CompiledValue {
  try {
    if (hasTags(text)) return { kind: 'template', template: parseTemplate(text, 'text') }
    const expression = parseExpression(text)
    return expression.kind === 'literal'
      ? { kind: 'constant', value: expression.value }
      : { kind: 'expression', expression }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    problems.push({ path: pathText(path), message: error.message })
    return { kind: 'constant', value: null }
  }
}

/** `config.fields.email`, `config.to[0]`. */
export const pathText = (path: readonly string[]): string =>
  path.map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i === 0 ? part : `.${part}`)).join('')
