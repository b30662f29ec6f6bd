import { type Problem, sortProblems } from '../domain/file-problems.ts'
import { readYaml } from '../domain/yaml-file.ts'
import { completed, type ServerRule } from './compare.ts'
import { compileRule } from './compile-rule.ts'
import type { KnownSchema } from './known-fields.ts'
import { ruleFile, yamlOf } from './pull.ts'
import { filesOf } from './set-files.ts'

/** A schema of a project: steps may name it by either. */
export type ProjectSchema = { id: string; name: string; fields: readonly string[] }

/** `order` null: not given, so the rule comes last. */
export type ReadRule = Omit<ServerRule, 'order' | Absent> & { order: number | null } & {
  [Key in Absent]: NonNullable<ServerRule[Key]> | null
}
type Absent = 'status' | 'headerConfig' | 'pipelineConfig'

/** `rule` is null for what is too broken to tell. */
export type ReadRuleText = { rule: ReadRule | null; problems: Problem[]; warnings: Problem[] }

const PATH = 'rules/any.rule.yaml'

/**
 * One rule as the admin shows and takes it: a rule file for any method that gives its pathPattern. The compiler of files
 * reads it, with the schemas of the project in place of those of a set. contract 17.5.
 */
export async function readRuleText(text: string, schemas: readonly ProjectSchema[]): Promise<ReadRuleText> {
  const yaml = readYaml(PATH, text)
  if (yaml.problems.length > 0) return { rule: null, problems: sortProblems(yaml.problems), warnings: [] }
  const problems: Problem[] = []
  const warnings: Problem[] = []
  const known = schemas.flatMap(({ id, ...schema }) => [
    [schema.name, schema] as const,
    [id, schema] as const,
  ])
  const set = {
    files: filesOf('rule', new Map([[PATH, text]])),
    schemas: new Map<string, KnownSchema>(known),
    isOfProject: true,
    problems,
    warnings,
  }
  const [source] = await compileRule(set, PATH, yaml)
  return {
    rule: source === undefined ? null : whole(source.rule),
    problems: sortProblems(problems),
    warnings: sortProblems(warnings),
  }
}

/** A stored rule. */
type StoredRule = Omit<ServerRule, 'status' | 'pipelineConfig'> & {
  status: ReadRule['status']
  pipelineConfig: Record<string, unknown> | null
}

/** Reading it gives the same rule; header values are left out. */
export function ruleText({ status, pipelineConfig, ...rule }: StoredRule): string {
  return yamlOf(
    ruleFile({
      ...rule,
      ...(status === null ? {} : { status }),
      methods: methodsOf(rule),
      headerConfig: withoutValues(rule),
      pipelineConfig: pipelineConfig as ServerRule['pipelineConfig'],
    }),
  )
}

function whole(rule: Parameters<typeof completed>[0]): ReadRule {
  const made = completed(rule, 0)
  const [only, ...more] = made.methods ?? []
  const isOne = only !== undefined && more.length === 0
  return {
    ...made,
    order: rule.order ?? null,
    status: made.status ?? null,
    headerConfig: made.headerConfig ?? null,
    pipelineConfig: made.pipelineConfig ?? null,
    ...(isOne ? { method: only, methods: null } : {}),
  }
}

function methodsOf({ method, methods }: Pick<ServerRule, 'method' | 'methods'>): string[] | null {
  const all = [...new Set([...(methods ?? []), ...(method === null ? [] : [method])])]
  return all.length === 0 ? null : all
}

function withoutValues({ headerConfig }: Pick<ServerRule, 'headerConfig'>): ServerRule['headerConfig'] {
  if (!headerConfig?.add) return headerConfig
  return { ...headerConfig, add: Object.fromEntries(Object.keys(headerConfig.add).map((name) => [name, ''])) }
}
