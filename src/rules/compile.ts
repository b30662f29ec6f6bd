import { type Problem, sortProblems } from '../domain/file-problems.ts'
import { patternKey } from '../domain/path-pattern.ts'
import { readYaml, type YamlFile } from '../domain/yaml-file.ts'
import { compareRulesBySpecificity } from './by-specificity.ts'
import { compileRule, type RuleSource } from './compile-rule.ts'
import { compileSchedule, isScheduleFile, type ScheduleSource } from './compile-schedule.ts'
import {
  compileManifest,
  compileSchema,
  isSchemaFile,
  type SchemaSource,
  schemaBase,
} from './compile-schema.ts'
import type { KnownSchema } from './known-fields.ts'
import type { CompiledPush } from './push.ts'
import { isRuleFile } from './route-path.ts'
import { fileProblem, type SetFiles, shownPath } from './set-files.ts'

export type Compiled = {
  /** Null if there is any problem. */
  push: CompiledPush | null
  /** All problems, sorted by file and position. */
  problems: Problem[]
  /** Things that have no effect, such as a reference to nothing. They do not prevent a push. */
  warnings: Problem[]
  /** The file of each rule of `push`, in the same order. */
  rulePaths: string[]
  /** The file of each schema of `push`, in the same order. */
  schemaPaths: string[]
  /** The file of each schedule of `push`, in the same order. */
  schedulePaths: string[]
}

const MAX_BYTES = 16 * 1024 * 1024

/** Compiles the files of a rule set into one push. Sends nothing and knows no server. contract §9.1. */
export async function compileSet(files: SetFiles): Promise<Compiled> {
  const problems: Problem[] = []
  const open = (path: string): YamlFile | null => {
    const read = files.read(path)
    if ('problem' in read) problems.push(fileProblem(files, path, read.problem))
    const yaml = 'text' in read ? readYaml(shownPath(files, path), read.text) : null
    problems.push(...(yaml?.problems ?? []))
    return yaml === null || yaml.problems.length > 0 ? null : yaml
  }
  problems.push(...strangeFiles(files))
  const ruleSet = manifestOf(files, open, problems)
  const schemas = schemasOf(files, open, problems)
  const rules: RuleSource[] = []
  const warnings: Problem[] = []
  const set = { files, schemas: schemas.names, problems, warnings }
  for (const path of files.paths.filter((one) => one.startsWith('rules/') && isRuleFile(one))) {
    const yaml = open(path)
    if (yaml !== null) rules.push(...(await compileRule(set, path, yaml)))
  }
  refuseDoubles(rules, problems)
  const schedules = schedulesOf(files, open, { rules, problems, warnings })
  rules.sort((a, b) => compareRulesBySpecificity(a.rule, b.rule))
  const push: CompiledPush = {
    ruleSet: ruleSet ?? { name: '' },
    rules: rules.map(({ rule }) => rule),
    schemas: schemas.sources.map(({ schema }) => schema),
    ...(schedules.length === 0 ? {} : { schedules: schedules.map(({ schedule }) => schedule) }),
    options: { prune: false, dryRun: false, strictSchemas: false },
  }
  if (problems.length === 0 && Buffer.byteLength(JSON.stringify(push)) > MAX_BYTES)
    problems.push(
      fileProblem(files, 'ruleset.yaml', `the whole set has more than ${MAX_BYTES} bytes (16 MiB)`),
    )
  return {
    push: problems.length === 0 ? push : null,
    problems: sortProblems(problems),
    warnings: sortProblems(warnings),
    rulePaths: rules.map(({ path }) => path),
    schemaPaths: schemas.sources.map(({ path }) => path),
    schedulePaths: schedules.map(({ path }) => path),
  }
}

const withMethod = ({ rule }: RuleSource) => ({ pathPattern: rule.pathPattern, method: rule.method ?? null })

type Open = (path: string) => YamlFile | null

/** Those that name no rule are reported only if every rule could be read. */
function schedulesOf(
  files: SetFiles,
  open: Open,
  { rules, problems, warnings }: { rules: readonly RuleSource[]; problems: Problem[]; warnings: Problem[] },
): ScheduleSource[] {
  const isReadWhole = !problems.some(({ file }) => file.startsWith(shownPath(files, 'rules/')))
  const known = isReadWhole ? rules.map(({ rule }) => rule) : null
  return files.paths.filter(isScheduleFile).flatMap((path) => {
    const before = problems.length
    const yaml = open(path)
    if (yaml !== null) return compileSchedule({ files, rules: known, problems, warnings }, path, yaml)
    const [first] = problems.slice(before)
    if (first !== undefined) problems[before] = { ...first, message: `${first.message}; ${QUOTES}` }
    return []
  })
}

const QUOTES = 'a cron that begins with * or @ stands in quotes'

function manifestOf(files: SetFiles, open: Open, problems: Problem[]): CompiledPush['ruleSet'] | null {
  if (!files.paths.includes('ruleset.yaml')) {
    problems.push(
      fileProblem(
        files,
        'ruleset.yaml',
        'is missing: it holds name, and may hold description and environment',
      ),
    )
    return null
  }
  const yaml = open('ruleset.yaml')
  return yaml === null ? null : compileManifest(yaml, problems)
}

function schemasOf(
  files: SetFiles,
  open: Open,
  problems: Problem[],
): { sources: SchemaSource[]; names: ReadonlyMap<string, KnownSchema> } {
  const sources = files.paths.filter(isSchemaFile).flatMap((path) => {
    const yaml = open(path)
    return yaml === null ? [unreadable(path)] : compileSchema(path, yaml, problems)
  })
  const firstPaths = new Map<string, string>()
  for (const { path, schema } of sources) {
    const first = firstPaths.get(schema.name)
    if (first === undefined) firstPaths.set(schema.name, path)
    else problems.push(fileProblem(files, path, `${first} already has the name ${schema.name}`))
  }
  const known = sources.map(({ base, schema: { name }, fieldNames }) => ({ base, name, fields: fieldNames }))
  return {
    sources,
    names: new Map([
      ...known.map((one) => [one.base, one] as const),
      ...known.map((one) => [one.name, one] as const),
    ]),
  }
}

/** Stands in for a schema file that cannot be read, so that steps that name it are not reported too. */
const unreadable = (path: string): SchemaSource => {
  const base = schemaBase(path)
  return { path, base, schema: { name: base, fields: [] }, fieldNames: null }
}

/** Reports YAML that is not a manifest, rule, schema, schedule or test, so that a typo is not silently ignored. */
function strangeFiles(files: SetFiles): Problem[] {
  return files.paths.flatMap((path) => {
    if (!/\.ya?ml$/.test(path) || path === 'ruleset.yaml' || isTestFile(path)) return []
    if (path.startsWith('rules/') && isRuleFile(path)) return []
    if (isSchemaFile(path) || isScheduleFile(path)) return []
    const allowed = path.startsWith('schemas/')
      ? 'schemas are schemas/<name>.schema.yaml'
      : path.startsWith('rules/')
        ? 'rules are rules/<path>/<method>.rule.yaml'
        : path.startsWith('schedules/')
          ? 'schedules are schedules/<name>.schedule.yaml'
          : 'a set holds ruleset.yaml, rules/<path>/<method>.rule.yaml, schemas/<name>.schema.yaml and schedules/<name>.schedule.yaml'
    return [
      fileProblem(
        files,
        path,
        `is not a file of a rule set: ${allowed}, tests *.rule.test.yaml and *.fn.test.yaml`,
      ),
    ]
  })
}

export const isTestFile = (path: string): boolean => /\.(rule|fn)\.test\.yaml$/.test(path)

function refuseDoubles(rules: readonly RuleSource[], problems: Problem[]): void {
  const firstPaths = new Map<string, string>()
  for (const one of rules) {
    const { method, pathPattern } = withMethod(one)
    const key = `${method} ${patternKey(pathPattern)}`
    const first = firstPaths.get(key)
    if (first === undefined) firstPaths.set(key, one.path)
    else problems.push({ ...one.at, message: `${first} already has this path and method` })
  }
}
