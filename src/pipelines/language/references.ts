import type { ErrorDetail } from '../../domain/errors.ts'
import { SCHEMA_BY_NAME } from '../../domain/schema-fields.ts'
import { isUuid } from '../../domain/uuid.ts'
import { pathText } from './compile.ts'
import { type Expression, ExpressionError, ITEM, parseExpression } from './expressions.ts'
import type { Handler } from './handler.ts'
import type { PipelineConfig, PipelineStep } from './model.ts'
import { findHandler } from './registry.ts'
import { hasTags, parseTemplate } from './templates.ts'

/** The keys of these roots in every request. `project` and `input` are open. contract §9.3. */
const REQUEST = [
  ...['body', 'rawBody', 'query', 'params', 'headers', 'method', 'path', 'ip', 'userAgent'],
  'schedule',
]
const HELD: Readonly<Record<string, readonly string[] | undefined>> = {
  request: REQUEST,
  metadata: REQUEST,
  user: ['id', 'email', 'role'],
  deployment: ['owner', 'repo', 'commitSha', 'alias'],
}

/**
 * Finds names in a step that refer to nothing. They would silently be null in every request. `before` holds the ids and
 * names of earlier steps. Paths begin with `config`.
 */
export function unknownNames(
  step: PipelineStep,
  handler: Handler,
  before: ReadonlySet<string>,
): ErrorDetail[] {
  const found: ErrorDetail[] = []
  for (const { path, text } of textsOf(preparedBy(handler, step.config), []))
    for (const expression of expressionsOf(handler, path, text)) {
      if (found.length === MAX_TOLD) return found
      const isEach = handler.forEach?.some((key) => key === path[0]) === true
      const message = isEach && isOfItem(expression) ? null : problemOf(expression, before)
      if (message !== null) found.push({ path: pathText(['config', ...path]), message })
    }
  return found
}

/** Reports at most this many for one step, so that the report never outgrows the push. */
const MAX_TOLD = 20

/**
 * The names of all secrets that a pipeline uses, also in steps that are turned off, in validators, and in steps of
 * handlers that only a newer version knows, where every text counts. There is no other way to a secret: it is found by a
 * name that is written out, and texts that come from elsewhere are never evaluated.
 */
export function secretNames({ validators = [], steps, postSteps = [] }: PipelineConfig): string[] {
  const names = new Set<string>()
  const collect = (config: Record<string, unknown> | undefined, handler: Handler | undefined): void => {
    for (const { path, text } of textsOf(preparedBy(handler, config), []))
      for (const one of expressionsOf(handler, path, text)) {
        const name = one.kind === 'path' && one.root === 'secrets' ? one.keys[0] : undefined
        if (name !== undefined) names.add(name)
      }
  }
  for (const { config } of validators) collect(config, undefined)
  for (const { config, handlerType } of [...steps, ...postSteps]) collect(config, findHandler(handlerType))
  return [...names]
}

const naming = new WeakMap<PipelineConfig, boolean>()

/** Whether a pipeline uses any secret. Looked up once for each configuration object. */
export function namesSecret(config: PipelineConfig): boolean {
  const known = naming.get(config) ?? secretNames(config).length > 0
  naming.set(config, known)
  return known
}

/**
 * The schema that a step names as written: `$schema:<name>` or an id. Undefined if it names none, or if an expression
 * finds it when the step runs.
 */
export function schemaReference({ handlerType, config }: PipelineStep): string | undefined {
  const given = config?.['schemaId']
  if (typeof given !== 'string') return undefined
  if (given.startsWith(SCHEMA_BY_NAME) || isUuid(given)) return given
  const handler = findHandler(handlerType)
  if (handler === undefined || hasTags(given)) return undefined
  const [expression] = expressionsOf(handler, ['schemaId'], given)
  return expression?.kind === 'literal' ? String(expression.value) : undefined
}

const isOfItem = (expression: Expression): boolean =>
  expression.kind === 'path' && expression.root === 'steps' && expression.keys[0] === ITEM

/** The fields that a step names literally and that the schema must have, but has not. */
export function missingFields(
  { handlerType, config }: PipelineStep,
  schema: { name: string; fields: readonly string[] },
): { key: string; message: string }[] {
  return (findHandler(handlerType)?.ownFields ?? []).flatMap((key) => {
    const field = config?.[key]
    if (typeof field !== 'string' || schema.fields.includes(field)) return []
    const there = schema.fields.join(', ') || 'none'
    return [{ key, message: `must be a field of the schema ${schema.name}, which has ${there}` }]
  })
}
const preparedBy = (handler: Handler | undefined, config: Record<string, unknown> = {}): object =>
  handler?.prepare?.(config) ?? config

function problemOf(expression: Expression, before: ReadonlySet<string>): string | null {
  if (expression.kind !== 'path') return null
  const { root, keys } = expression
  const [key] = keys
  if (key === undefined) return root === 'secrets' ? NO_SECRET : null
  if (root === 'steps') {
    if (before.has(key)) return null
    return `names the output of a step ${key.slice(0, 100)}, but no earlier step has that id; ${namesOf(before)}`
  }
  const held = HELD[root]
  if (held === undefined || held.includes(key)) return null
  return `names ${root}.${key.slice(0, 100)}, but ${root} has only ${held.join(', ')}`
}

const NO_SECRET = "names no secret, and so is null: write the name out, as secrets.NAME or secrets['NAME']"

const MAX_NAMES = 8

/** The latest steps are the most likely to be meant. */
function namesOf(before: ReadonlySet<string>): string {
  if (before.size === 0) return 'earlier steps: none'
  const shown = [...before].slice(-MAX_NAMES).map((name) => name.slice(0, 50))
  return `earlier steps: ${before.size > MAX_NAMES ? '…, ' : ''}${shown.join(', ')}`
}

type Text = { path: readonly string[]; text: string }

/** A text without any of these words refers to nothing that is checked here. */
const ROOTS = new RegExp(['steps', 'secrets', ...Object.keys(HELD)].join('|'))

/** Yields one text at a time, as a push may have millions. `path` is only valid until the next one. */
function* textsOf(value: object, path: string[]): Generator<Text> {
  const keys = Array.isArray(value) ? null : Object.keys(value)
  for (const [i, inner] of (Array.isArray(value) ? value : Object.values(value)).entries()) {
    const isText = typeof inner === 'string' && ROOTS.test(inner)
    const isMore = typeof inner === 'object' && inner !== null
    if (!isText && !isMore) continue
    path.push(keys?.[i] ?? String(i))
    if (isText) yield { path, text: inner }
    else yield* textsOf(inner, path)
    path.pop()
  }
}

/** The expressions of a text; none if it cannot be parsed, which is reported elsewhere. */
function expressionsOf(handler: Handler | undefined, path: readonly string[], text: string): Expression[] {
  const isCondition = path.length === 1 && path[0] === 'condition'
  const isTemplate = hasTags(text)
  // A body is kept literally and yet is a template: it is parsed once the content type is known.
  const isLiteral = !isCondition && handler?.isLiteral?.(path, text) === true
  if (isLiteral && !(path[0] === 'body' && isTemplate)) return []
  try {
    if (!isTemplate) return [parseExpression(isCondition ? text.replace(/^[\s!]*/, '') : text)]
    const { pieces } = parseTemplate(text, 'text')
    return pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.expression]))
  } catch (error) {
    if (error instanceof ExpressionError) return []
    throw error
  }
}
