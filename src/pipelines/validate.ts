import type { TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import Value from 'typebox/value'
import type { ErrorDetail } from '../domain/errors.ts'
import { compileStep, pathText } from './compile.ts'
import { type PipelineConfig, type PipelineStep, pipelineConfig } from './model.ts'
import { findHandler, handlerNames } from './registry.ts'
import { VALIDATOR_CONFIGS } from './validators.ts'

// Eight where nothing is said, and a choice of eight kinds uses them up: everything that is wrong is to be told.
Settings.Set({ maxErrors: 1000 })

/** What a newer version may know: a push stores it and says so, a rule file may not have it. */
type ConfigWarning = ErrorDetail & { kind: 'unknown_handler' | 'unknown_key' }

/** Says all that is wrong with a pipeline at once. Paths read `steps[0].config.fields.email.type`. */
export function validatePipelineConfig(value: unknown): { errors: ErrorDetail[]; warnings: ConfigWarning[] } {
  const found = { errors: [] as ErrorDetail[], warnings: [] as ConfigWarning[] }
  checkAgainst(pipelineConfig, value, [], found)
  if (found.errors.length > 0) return found
  const config = value as PipelineConfig
  checkSteps(config.steps, 'steps', found)
  checkSteps(config.postSteps ?? [], 'postSteps', found)
  const ids = [...config.steps, ...(config.postSteps ?? [])].map(({ id }) => id)
  for (const id of new Set(ids.filter((one, i) => ids.indexOf(one) !== i)))
    found.errors.push({ path: 'steps', message: `there are two steps with the id ${id}` })
  for (const [i, validator] of (config.validators ?? []).entries()) checkValidator(validator, i, found)
  return found
}

type Found = { errors: ErrorDetail[]; warnings: ConfigWarning[] }

const NEVER = new Set(['__proto__', 'constructor', 'prototype'])

function checkSteps(steps: readonly PipelineStep[], list: string, found: Found): void {
  for (const [i, step] of steps.entries()) {
    const at = [list, String(i)]
    if (NEVER.has(step.id)) found.errors.push({ path: `${pathText(at)}.id`, message: 'must be another name' })
    const handler = findHandler(step.handlerType)
    if (handler === undefined) {
      found.warnings.push({
        kind: 'unknown_handler',
        path: `${pathText(at)}.handler`,
        message: `${step.handlerType} is not known; this version has ${handlerNames().join(', ')}`,
      })
      continue
    }
    const { condition: _, ...config } = step.config ?? {}
    const before = found.errors.length
    checkAgainst(handler.config, config, [...at, 'config'], found)
    for (const { path, message } of compileStep(step).problems)
      found.errors.push({ path: `${pathText(at)}.${path}`, message })
    if (found.errors.length > before) continue
    for (const { path, message } of handler.check?.(config) ?? [])
      found.errors.push({ path: `${pathText(at)}.config${path === '' ? '' : `.${path}`}`, message })
  }
}

function checkValidator(validator: { type: string; config?: unknown }, index: number, found: Found): void {
  const at = ['validators', String(index)]
  const known = Object.keys(VALIDATOR_CONFIGS)
  const schema = Object.entries(VALIDATOR_CONFIGS).find(([type]) => type === validator.type)?.[1]
  if (schema === undefined)
    found.errors.push({ path: `${pathText(at)}.type`, message: `must be one of ${known.join(', ')}` })
  else checkAgainst(schema, validator.config ?? {}, [...at, 'config'], found)
}

/** Unknown keys are warnings, all else are errors; of several about one place the first that says something. */
function checkAgainst(schema: TSchema, value: unknown, at: readonly string[], found: Found): void {
  const messages = new Map<string, string>()
  for (const error of Value.Errors(schema, value)) {
    const { instancePath: pointer } = error
    const keys = [...at, ...keysOf(pointer)]
    const path = pathText(keys)
    switch (error.keyword) {
      case 'additionalProperties':
        found.warnings.push(
          ...unknownKeys(keys, error.params.additionalProperties, knownKeys(schema, pointer)),
        )
        break
      case 'required':
        for (const key of error.params.requiredProperties)
          messages.set(pathText([...keys, key]), 'is required')
        break
      case 'anyOf':
        messages.set(path, allowedAt(schema, pointer))
        break
      // Said once more of each unknown key.
      case 'boolean':
        break
      default:
        if (!messages.has(path)) messages.set(path, error.message)
    }
  }
  for (const [path, message] of messages) found.errors.push({ path, message })
}

const unknownKeys = (path: readonly string[], keys: readonly string[], known: string): ConfigWarning[] =>
  keys.map((key) => ({
    kind: 'unknown_key',
    path: pathText([...path, key]),
    message: `is not known here${known}`,
  }))

/** The keys of a JSON pointer. RFC 6901. */
const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))

function knownKeys(schema: TSchema, pointer: string): string {
  const inner = schemaAt(schema, pointer)
  const properties =
    inner !== undefined && 'properties' in inner ? Object.keys(inner.properties as object) : []
  return properties.length === 0 ? '' : `; known: ${properties.join(', ')}`
}

/** What may stand there, in words. */
function allowedAt(schema: TSchema, pointer: string): string {
  const inner = schemaAt(schema, pointer)
  const choices =
    inner !== undefined && 'anyOf' in inner ? (inner.anyOf as { const?: unknown; type?: string }[]) : []
  const words = choices.map(({ const: constant, type }) =>
    constant === undefined ? `a ${type ?? 'value'}` : String(constant),
  )
  return words.length === 0 ? 'is not what may stand here' : `must be one of: ${words.join(', ')}`
}

type Described = {
  properties?: Record<string, TSchema>
  items?: TSchema
  patternProperties?: Record<string, TSchema>
}

function schemaAt(schema: TSchema, pointer: string): TSchema | undefined {
  return keysOf(pointer).reduce<TSchema | undefined>((inner, key) => {
    const { properties, items, patternProperties } = (inner ?? {}) as Described
    return properties?.[key] ?? items ?? Object.values(patternProperties ?? {})[0]
  }, schema)
}
