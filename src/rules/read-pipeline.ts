import { MAX_DESCRIPTION } from '../domain/description.ts'
import type { Problem } from '../domain/file-problems.ts'
import { isRecord } from '../domain/is-record.ts'
import { SCHEMA_BY_NAME } from '../domain/schema-fields.ts'
import type { PipelineConfig, PipelineStep } from '../pipelines/language/model.ts'
import { missingFields } from '../pipelines/language/references.ts'
import { findHandler } from '../pipelines/language/registry.ts'
import { validatePipelineConfig } from '../pipelines/language/validate.ts'
import { anything, type Checker, flag, label, type Path, text } from './checks.ts'
import { bundleCode, insidePath, isCodePath } from './code.ts'
import { checkFieldNames, type KnownSchema } from './known-fields.ts'
import { locate } from './locate.ts'
import type { SetFiles } from './set-files.ts'

const PIPELINE_KEYS = {
  name: text(200),
  description: text(MAX_DESCRIPTION),
  validators: anything,
  steps: anything,
  postSteps: anything,
}
const STEP_KEYS = {
  id: text(100),
  name: text(200),
  handler: text(100),
  config: anything,
  code: text(),
  isEnabled: flag,
}

/** The rule file that contains the pipeline. */
type RuleFile = {
  files: SetFiles
  /** The folder of the file. Code paths are relative to it. */
  folder: string
  /** Receives the problems of the rule file itself. */
  checker: Checker
  /** Receives the problems of code files. */
  codeProblems: Problem[]
  /** The schemas of the set, by the names that steps use. */
  schemas: ReadonlyMap<string, KnownSchema>
  /** The schemas are those of a project, which steps may also name by their ids. */
  isOfProject: boolean
}

/**
 * Reads the `pipeline` of a rule file into the form that the server takes. Returns undefined if it is too broken to
 * continue.
 */
export async function readPipeline(file: RuleFile, value: unknown): Promise<PipelineConfig | undefined> {
  const { checker } = file
  const before = checker.problems.length
  const given = checker.object(value, ['pipeline'], PIPELINE_KEYS)
  if (given === null) return undefined
  if (given['steps'] === undefined)
    checker.report(['pipeline'], 'pipeline.steps is required: a list of steps')
  const readSteps = async (key: 'steps' | 'postSteps') => {
    const list = stepList(given[key], ['pipeline', key], checker)
    const steps: PipelineStep[] = []
    for (const [i, step] of list.entries()) steps.push(await readStep(file, step, ['pipeline', key, i]))
    return steps
  }
  const { name, description, validators } = given
  const config = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(validators === undefined ? {} : { validators }),
    steps: await readSteps('steps'),
    ...(given['postSteps'] === undefined ? {} : { postSteps: await readSteps('postSteps') }),
  } as PipelineConfig
  judge(config, given, checker, checker.problems.slice(before))
  return config
}

/** Keys that belong in `config` but are easily written beside it. */
function settingsOf(handler: unknown): string[] {
  const found = findHandler(String(handler))
  const keys =
    found !== undefined && 'properties' in found.config
      ? Object.keys(found.config['properties'] as object)
      : []
  return ['condition', ...keys]
}

function stepList(value: unknown, path: Path, checker: Checker): unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  checker.report(path, `${label(path)}must be a list of steps`)
  return []
}

async function readStep(file: RuleFile, value: unknown, path: Path): Promise<PipelineStep> {
  const { checker } = file
  const given = checker.object(value, path, STEP_KEYS, isRecord(value) ? settingsOf(value['handler']) : [])
  if (given === null) return { handlerType: '?' }
  if (given['handler'] === undefined) checker.report(path, `${label([...path, 'handler'])}is required`)
  const { id, name, handler, config, code, isEnabled } = given
  if (config !== undefined && !isRecord(config))
    checker.report([...path, 'config'], `${label([...path, 'config'])}must be a map`)
  const step = isRecord(config) ? { handlerType: String(handler), config } : null
  const settings = step === null ? {} : resolveSchema(file, step, path)
  const coded = typeof code === 'string' ? await readCode(file, code, path, 'code' in settings) : {}
  const all = { ...settings, ...coded }
  return {
    ...(id === undefined ? {} : { id: String(id) }),
    ...(name === undefined ? {} : { name: String(name) }),
    handlerType: String(handler),
    ...(config === undefined && code === undefined ? {} : { config: all }),
    ...(isEnabled === undefined ? {} : { isEnabled: isEnabled === true }),
  }
}

async function readCode(
  { files, folder, checker, codeProblems }: RuleFile,
  code: string,
  path: Path,
  isInConfig: boolean,
): Promise<{ code: string }> {
  const at = [...path, 'code']
  const refuse = (message: string) => {
    checker.report(at, `${label(at)}${message}`)
    return NO_CODE
  }
  if (isInConfig) return refuse('and config.code are both given: use one of them')
  const inside = insidePath(folder, code)
  if (inside === null) return refuse('is outside the rule set')
  if (!isCodePath(inside)) return refuse('must be a .js, .mjs or .ts file beside the rule')
  if (!files.paths.includes(inside)) return refuse(`names ${inside}, which does not exist`)
  const bundled = await bundleCode(files, inside)
  if ('code' in bundled) return { code: bundled.code }
  codeProblems.push(...bundled.problems)
  return NO_CODE
}

/** Stands in for code that has been reported already, so that nothing else is said about it. */
const NO_CODE = { code: 'function handler() {}' }

type ConfiguredStep = { handlerType: string; config: Record<string, unknown> }

/** Warns about one that the project does not have: it may be made before the rule is saved. */
function checkSchemaOfProject({ checker, schemas }: RuleFile, step: ConfiguredStep, path: Path): void {
  const { schemaId } = step.config
  if (typeof schemaId !== 'string') return
  const name = schemaId.startsWith(SCHEMA_BY_NAME) ? schemaId.slice(SCHEMA_BY_NAME.length) : schemaId
  const schema = schemas.get(name)
  const at = [...path, 'config', 'schemaId']
  if (schema === undefined) checker.warn(at, `${label(at)}names no schema of this project: ${name}`)
  else checkFields(schema, step, path, checker)
}

function checkFields(schema: KnownSchema, step: ConfiguredStep, path: Path, checker: Checker): void {
  const { name, fields } = schema
  checkFieldNames(schema, step.config, [...path, 'config'], checker)
  if (fields === null) return
  for (const { key, message } of missingFields(step, { name, fields })) {
    const at = [...path, 'config', key]
    checker.report(at, `${label(at)}${message}`)
  }
}

/** spec: a name resolved to the schema file, never a UUID. */
function resolveSchema(file: RuleFile, step: ConfiguredStep, path: Path): Record<string, unknown> {
  const { config } = step
  const { checker, schemas } = file
  const { schemaId } = config
  if (file.isOfProject) checkSchemaOfProject(file, step, path)
  if (file.isOfProject || schemaId === undefined) return config
  const at = [...path, 'config', 'schemaId']
  const known = [...new Set([...schemas.values()].map(({ name }) => name))].join(', ') || 'none'
  if (typeof schemaId !== 'string' || !schemaId.startsWith(SCHEMA_BY_NAME)) {
    checker.report(at, `${label(at)}must be $schema:<name>, a schema of this set; known schemas: ${known}`)
    return config
  }
  const schema = schemas.get(schemaId.slice(SCHEMA_BY_NAME.length))
  if (schema === undefined) {
    checker.report(at, `${label(at)}names no schema of this set; known schemas: ${known}`)
    return config
  }
  checkFields(schema, step, path, checker)
  return { ...config, schemaId: `${SCHEMA_BY_NAME}${schema.name}` }
}

/**
 * Runs the checks that only the handlers know. In files, unknown handlers and keys are errors. `told` holds the
 * problems found so far.
 */
function judge(
  config: PipelineConfig,
  given: Record<string, unknown>,
  checker: Checker,
  told: readonly Problem[],
): void {
  const { errors, warnings } = validatePipelineConfig(config)
  const seen = new Set<string>()
  for (const { path, message } of [...errors, ...warnings]) {
    const inFile = path.replace(/^((?:postS|s)teps\[\d+\])\.handlerType/, '$1.handler')
    const found = locateCode(given, inFile)
    const place = inFile === '' ? 'pipeline' : `pipeline.${inFile}`
    const text = `${place} ${message}`
    if (seen.has(text) || told.some((one) => isAbout(one, place))) continue
    seen.add(text)
    const kind = warnings.find((one) => one.path === path && one.message === message)?.kind
    if (kind === 'unknown_name') checker.warn(['pipeline', ...found], text)
    else checker.report(['pipeline', ...found], text, kind === 'unknown_key' ? 'key' : 'value')
  }
}

/** The server knows code only as `config.code`; in a file it may also be a path beside the handler. */
function locateCode(given: Record<string, unknown>, path: string): Path {
  const own = locate(given, path)
  const beside = locate(given, path.replace(/^((?:postS|s)teps\[\d+\])\.config\.code$/, '$1.code'))
  return beside.length < own.length ? own : beside
}

/** Whether a problem is about this place or about one that contains it. */
function isAbout({ message }: Problem, path: string): boolean {
  const [place = ''] = message.split(' ', 1)
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`)
}
