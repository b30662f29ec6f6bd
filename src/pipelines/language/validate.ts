import type { TSchema } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'
import { Settings } from 'typebox/system'
import Value from 'typebox/value'
import type { ErrorDetail } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { PROTOTYPE_KEYS } from '../../domain/prototype-keys.ts'
import { GLOBAL_ROLES, PROJECT_ROLES } from '../../domain/roles.ts'
import { compileStep, pathText } from './compile.ts'
import {
  MAX_STEPS,
  type PipelineStep,
  type PipelineValidator,
  pipelineConfig,
  type StepList,
  stepIdOf,
} from './model.ts'
import { unknownNames } from './references.ts'
import { findHandler, handlerNames } from './registry.ts'
import { VALIDATOR_CONFIGS } from './validators.ts'

// The default is 8 errors; one union of eight branches would use them all.
Settings.Set({ maxErrors: 1000 })

/**
 * Something that a newer version may know, or that fails only when it runs: a push stores it and warns, but a rule file
 * must not contain it.
 */
type ConfigWarning = ErrorDetail & {
  kind: 'unknown_handler' | 'unknown_validator' | 'unknown_key' | 'unknown_name' | 'never_works'
}

/** Returns all problems of a pipeline at once. Paths look like `steps[0].config.fields.email.type`. */
export function validatePipelineConfig(value: unknown): { errors: ErrorDetail[]; warnings: ConfigWarning[] } {
  const found = { errors: [] as ErrorDetail[], warnings: [] as ConfigWarning[] }
  if (hasLongKey(value)) {
    found.errors.push({ path: '', message: `has a key of more than ${LONGEST_KEY} characters` })
    return found
  }
  checkAgainst(pipelineConfig, value, [], found)
  const steps = readable(value, 'steps', isStep)
  const postSteps = readable(value, 'postSteps', isStep)
  const before = new Set<string>()
  checkSteps(steps, 'steps', before, found)
  checkSteps(postSteps, 'postSteps', before, found)
  const ids = [...idsOf(steps, 'steps'), ...idsOf(postSteps, 'postSteps')]
  for (const id of new Set(ids.filter((one, i) => ids.indexOf(one) !== i)))
    found.errors.push({ path: 'steps', message: `two steps have the id ${id}` })
  for (const [i, validator] of readable(value, 'validators', isValidator)) checkValidator(validator, i, found)
  return found
}

const idsOf = (steps: Numbered<PipelineStep>, list: StepList): string[] =>
  steps.map(([i, step]) => stepIdOf(step, list, i))

/** Every problem below a key repeats the key, so a long one would be repeated a thousand times. */
const LONGEST_KEY = 500

function hasLongKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasLongKey)
  return Object.entries(value).some(([key, inner]) => key.length > LONGEST_KEY || hasLongKey(inner))
}

type Found = { errors: ErrorDetail[]; warnings: ConfigWarning[] }
type Numbered<T> = readonly (readonly [number, T])[]

/** The well-formed items of a list: one malformed step does not hide the problems of the others. */
function readable<T>(config: unknown, key: string, isGood: (one: unknown) => one is T): Numbered<T> {
  const list = isRecord(config) ? config[key] : undefined
  const all: unknown[] = Array.isArray(list) ? list.slice(0, MAX_STEPS) : []
  return all.flatMap((one, i) => (isGood(one) ? [[i, one] as const] : []))
}

const hasConfig = (one: Record<string, unknown>): boolean =>
  one['config'] === undefined || isRecord(one['config'])
const isStep = (one: unknown): one is PipelineStep =>
  isRecord(one) && typeof one['handlerType'] === 'string' && hasConfig(one)
const isValidator = (one: unknown): one is PipelineValidator =>
  isRecord(one) && typeof one['type'] === 'string' && hasConfig(one)

function checkSteps(steps: Numbered<PipelineStep>, list: StepList, before: Set<string>, found: Found): void {
  for (const [i, step] of steps) {
    const id = stepIdOf(step, list, i)
    checkStep(step, id, [list, String(i)], before, found)
    // A step with names of the wrong type is reported, but its config is still checked.
    for (const name of [id, step.name]) if (typeof name === 'string') before.add(name)
  }
}

function checkStep(
  step: PipelineStep,
  id: string,
  at: readonly string[],
  before: ReadonlySet<string>,
  found: Found,
): void {
  if (PROTOTYPE_KEYS.has(id))
    found.errors.push({
      path: `${pathText(at)}.${step.id === undefined ? 'name' : 'id'}`,
      message: 'is a reserved name: choose another',
    })
  const handler = findHandler(step.handlerType)
  if (handler === undefined) {
    found.warnings.push({
      kind: 'unknown_handler',
      path: `${pathText(at)}.handler`,
      message: `${step.handlerType} is not known; the handlers of this version are ${handlerNames().join(', ')}`,
    })
    return
  }
  const { condition: _, ...config } = step.config ?? {}
  const errorsBefore = found.errors.length
  checkAgainst(handler.config, config, [...at, 'config'], found)
  for (const { path, message } of compileStep(step, id).problems)
    found.errors.push({ path: `${pathText(at)}.${path}`, message })
  for (const { path, message } of unknownNames(step, handler, before))
    found.warnings.push({ kind: 'unknown_name', path: `${pathText(at)}.${path}`, message })
  const told = new Set(found.errors.slice(errorsBefore).map(({ path }) => path))
  const untold = (details: readonly ErrorDetail[] = []) =>
    details
      .map(({ path, message }) => ({
        path: `${pathText(at)}.config${path === '' ? '' : `.${path}`}`,
        message,
      }))
      .filter(({ path }) => !told.has(path))
  found.errors.push(...untold(handler.check?.(config)))
  for (const detail of untold(handler.foresee?.(config)))
    found.warnings.push({ kind: 'never_works', ...detail })
}

function checkValidator(validator: PipelineValidator, index: number, found: Found): void {
  const at = ['validators', String(index)]
  const known = Object.keys(VALIDATOR_CONFIGS)
  const schema = Object.entries(VALIDATOR_CONFIGS).find(([type]) => type === validator.type)?.[1]
  if (schema === undefined)
    found.warnings.push({
      kind: 'unknown_validator',
      path: `${pathText(at)}.type`,
      message: `must be one of ${known.join(', ')}`,
    })
  else checkAgainst(schema, validator.config ?? {}, [...at, 'config'], found)
  if (validator.type === 'auth_required') checkRoles(validator.config?.['roles'], at, found)
}

function checkRoles(roles: unknown, at: readonly string[], found: Found): void {
  const known = [...new Set<string>([...PROJECT_ROLES, ...GLOBAL_ROLES])]
  for (const [i, role] of Array.isArray(roles) ? roles.entries() : [])
    if (typeof role === 'string' && !known.includes(role))
      found.warnings.push({
        kind: 'never_works',
        path: pathText([...at, 'config', 'roles', String(i)]),
        message: `must be one of ${known.join(', ')}`,
      })
}

/** Unknown keys become warnings, everything else errors. Keeps the first useful message for each path. */
function checkAgainst(schema: TSchema, value: unknown, at: readonly string[], found: Found): void {
  const messages = new Map<string, string>()
  const errors = [...Value.Errors(schema, value)]
  const chosen = new Set<string>()
  for (const { keyword, instancePath: pointer } of errors) {
    const choice = keyword === 'anyOf' ? choiceFor(schema, value, pointer) : undefined
    if (choice === undefined) continue
    chosen.add(pointer)
    checkAgainst(choice, valueAt(value, pointer), [...at, ...keysOf(pointer)], found)
  }
  for (const error of errors) {
    const { instancePath: pointer } = error
    if (isWithin(pointer, chosen)) continue
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
      // TypeBox also reports each unknown key as a failed `boolean` schema.
      case 'boolean':
        break
      default:
        if (!messages.has(path)) messages.set(path, inWords(error, schema, pointer))
    }
  }
  for (const [path, message] of messages) found.errors.push({ path, message })
}

/** `must be a map with the keys type, required` says what to write; `must be object` does not. */
function inWords(error: TLocalizedValidationError, schema: TSchema, pointer: string): string {
  const name = error.keyword === 'type' ? NAMES[String(error.params.type)] : undefined
  if (name === undefined) return error.message
  if (name !== NAMES['object']) return `must be ${name}`
  const keys = keysAt(schema, pointer)
  return keys.length === 0 ? 'must be a map' : `must be a map with the keys ${keys.join(', ')}`
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
  const keys = keysAt(schema, pointer)
  return keys.length === 0 ? '' : `; known: ${keys.join(', ')}`
}

function keysAt(schema: TSchema, pointer: string): string[] {
  const inner = schemaAt(schema, pointer)
  return inner !== undefined && 'properties' in inner ? Object.keys(inner.properties as object) : []
}

/** Whether a pointer or one of its parents is in the set. */
function isWithin(pointer: string, chosen: ReadonlySet<string>): boolean {
  for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1))
    if (chosen.has(pointer.slice(0, end))) return true
  return false
}

const valueAt = (value: unknown, pointer: string): unknown =>
  keysOf(pointer).reduce<unknown>((inner, key) => Object(inner)[key], value)

/**
 * The branch of a union that matches the kind of the value, map or list. Only the errors of that branch are reported.
 */
function choiceFor(schema: TSchema, value: unknown, pointer: string): TSchema | undefined {
  const inner = schemaAt(schema, pointer)
  const choices =
    inner !== undefined && 'anyOf' in inner ? (inner.anyOf as (TSchema & { type?: string })[]) : []
  const given = valueAt(value, pointer)
  const kind = Array.isArray(given) ? 'array' : isRecord(given) ? 'object' : null
  return choices.find(({ type }) => type === kind)
}

const NAMES: Readonly<Record<string, string | undefined>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'a map',
  string: 'a text',
}

/** The allowed values, in words. */
function allowedAt(schema: TSchema, pointer: string): string {
  const inner = schemaAt(schema, pointer)
  const choices = inner !== undefined && 'anyOf' in inner ? (inner.anyOf as Choice[]) : []
  const words = choices.map((choice) => {
    if (choice.const !== undefined) return String(choice.const)
    const keys = Object.keys(choice.properties ?? {})
    const name = NAMES[choice.type ?? ''] ?? 'a value'
    return keys.length === 0 ? name : `${name} with the keys ${keys.join(' and ')}`
  })
  return words.length === 0 ? 'is not an allowed value' : `must be one of: ${words.join(', ')}`
}

type Choice = { const?: unknown; type?: string; properties?: object }

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
