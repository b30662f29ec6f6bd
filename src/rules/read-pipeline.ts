import { isRecord } from '../domain/is-record.ts'
import { SCHEMA_BY_NAME } from '../domain/schema-fields.ts'
import type { PipelineConfig, PipelineStep } from '../pipelines/model.ts'
import { validatePipelineConfig } from '../pipelines/validate.ts'
import { anything, type Checker, flag, label, type Path, text } from './checks.ts'
import { bundleCode, insidePath, isCodePath } from './code.ts'
import { locate } from './locate.ts'
import type { Problem } from './problems.ts'
import type { SetFiles } from './set-files.ts'

const PIPELINE_KEYS = {
  name: text(200),
  description: text(10_000),
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

/** The rule file that a pipeline is of. */
type RuleFile = {
  files: SetFiles
  /** Of the file, for code that stands beside it. */
  folder: string
  /** Hears what is wrong in the file itself. */
  checker: Checker
  /** Gets what is wrong in files of code. */
  codeProblems: Problem[]
  /** The names of the set's schemas, by what steps call them. */
  schemas: ReadonlyMap<string, string>
}

/** The `pipeline` of a rule file as the server takes it; undefined where it is too wrong to go on. */
export async function readPipeline(file: RuleFile, value: unknown): Promise<PipelineConfig | undefined> {
  const { checker, codeProblems } = file
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
  if (checker.problems.length === before && codeProblems.length === 0) judge(config, given, checker)
  return config
}

function stepList(value: unknown, path: Path, checker: Checker): unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  checker.report(path, `${label(path)}must be a list of steps`)
  return []
}

async function readStep(file: RuleFile, value: unknown, path: Path): Promise<PipelineStep> {
  const { checker } = file
  const given = checker.object(value, path, STEP_KEYS)
  if (given === null) return { id: '?', handlerType: '?' }
  for (const key of ['id', 'handler'])
    if (given[key] === undefined) checker.report(path, `${label([...path, key])}is required`)
  const { id, name, handler, config, code, isEnabled } = given
  if (config !== undefined && !isRecord(config))
    checker.report([...path, 'config'], `${label([...path, 'config'])}must be a map`)
  const settings = isRecord(config) ? resolveSchema(file, config, path) : {}
  const coded = typeof code === 'string' ? await readCode(file, code, path, 'code' in settings) : {}
  const all = { ...settings, ...coded }
  return {
    id: String(id),
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
): Promise<{ code?: string }> {
  const at = [...path, 'code']
  const refuse = (message: string) => {
    checker.report(at, `${label(at)}${message}`)
    return {}
  }
  if (isInConfig) return refuse('and config.code are both there: one of the two')
  const inside = insidePath(folder, code)
  if (inside === null) return refuse('leads out of the rule set')
  if (!isCodePath(inside)) return refuse('must be a .js, .mjs or .ts file beside the rule')
  if (!files.paths.includes(inside)) return refuse(`names ${inside}, which is not there`)
  const bundled = await bundleCode(files, inside)
  if ('code' in bundled) return { code: bundled.code }
  codeProblems.push(...bundled.problems)
  return {}
}

/** spec: a name resolved to the schema file, never a UUID. */
function resolveSchema(
  { checker, schemas }: RuleFile,
  config: Record<string, unknown>,
  path: Path,
): Record<string, unknown> {
  const { schemaId } = config
  if (schemaId === undefined) return config
  const at = [...path, 'config', 'schemaId']
  const known = [...new Set(schemas.values())].join(', ') || 'none'
  if (typeof schemaId !== 'string' || !schemaId.startsWith(SCHEMA_BY_NAME)) {
    checker.report(at, `${label(at)}must be $schema:<name>, a schema of this set; there is ${known}`)
    return config
  }
  const name = schemas.get(schemaId.slice(SCHEMA_BY_NAME.length))
  if (name === undefined) checker.report(at, `${label(at)}names no schema of this set; there is ${known}`)
  return name === undefined ? config : { ...config, schemaId: `${SCHEMA_BY_NAME}${name}` }
}

/** What only the handlers know. Unknown handlers and keys are errors in files. */
function judge(config: PipelineConfig, given: Record<string, unknown>, checker: Checker): void {
  const { errors, warnings } = validatePipelineConfig(config)
  const seen = new Set<string>()
  for (const { path, message } of [...errors, ...warnings]) {
    const inFile = path.replace(/^((?:postS|s)teps\[\d+\])\.handlerType/, '$1.handler')
    const found = locate(given, inFile.replace(/^((?:postS|s)teps\[\d+\])\.config\.code$/, '$1.code'))
    const isUnknown = warnings.some((one) => one.path === path && one.kind === 'unknown_key')
    const text = `pipeline.${inFile} ${message}`
    if (seen.has(text)) continue
    seen.add(text)
    checker.report(['pipeline', ...found], text, isUnknown ? 'key' : 'value')
  }
}
