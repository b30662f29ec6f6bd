import { stringify } from 'yaml'
import { DEFAULT_REDIRECT_STATUS } from '../domain/routing/redirect-rule.ts'
import { DEFAULT_ZONE } from '../domain/schedule.ts'
import { MAX_FILE_BYTES } from '../domain/yaml-file.ts'
import { compareRulesBySpecificity } from './by-specificity.ts'
import {
  completed,
  identityOf,
  nameOf,
  type ServerRule,
  type ServerSchedule,
  type ServerSet,
} from './compare.ts'
import { schedulePath } from './compile-schedule.ts'
import { folderOfPattern, isMethodWord } from './route-path.ts'

/** The files of a set on a server, by their path in the set. `notes` says what files cannot express. */
type PulledSet = {
  texts: Map<string, string>
  /** The rule that each code file belongs to. */
  owners: Map<string, string>
  notes: string[]
}

/**
 * Writes the set as files. Compiling them again gives a push that changes nothing. `known` says where to put a rule (by
 * its identity) or a schema (`schema <name>`).
 */
export function layOutSet(set: ServerSet, known: ReadonlyMap<string, string> = new Map()): PulledSet {
  const texts = new Map<string, string>()
  const owners = new Map<string, string>()
  const notes: string[] = []
  const { name, description, environment } = set.ruleSet
  texts.set('ruleset.yaml', yamlOf({ name, ...given({ description, environment }) }))
  for (const schema of set.schemas)
    texts.set(
      known.get(`schema ${schema.name}`) ?? `schemas/${schema.name}.schema.yaml`,
      yamlOf({ name: schema.name, fields: schema.fields.map(plainField) }),
    )
  for (const schedule of set.schedules ?? [])
    texts.set(schedulePath(schedule.name), yamlOf(scheduleFile(schedule)))
  const sorted = set.rules.filter((rule) => canBeFile(rule, notes)).sort(compareRulesBySpecificity)
  for (const [index, rule] of sorted.entries()) {
    const path = known.get(identityOf(rule)) ?? freePath(rule, texts)
    const coded = takeOutCode(rule, path, texts, owners)
    const text = yamlOf(ruleFile(coded, { index, folder: path.split('/').slice(1, -1).join('/') }))
    if (Buffer.byteLength(text) > MAX_FILE_BYTES)
      notes.push(`${path} has more than 1 MiB: it cannot be read back`)
    texts.set(path, text)
  }
  return { texts, owners, notes }
}

function canBeFile(rule: ServerRule, notes: string[]): boolean {
  const { method, methods } = rule
  if (method !== null && methods !== null)
    notes.push(`${nameOf(rule)} has both method and methods, which a file cannot express: it was left out`)
  else if (!isMethodWord(wordOf(rule)))
    notes.push(`${nameOf(rule)} has a method that no file name can express: it was left out`)
  else return true
  return false
}

const wordOf = ({ method }: ServerRule): string => (method ?? 'ANY').toLowerCase()

/** `rules/api/contact/post.rule.yaml`. A pattern that folders cannot express gets a folder of its own. */
function freePath(rule: ServerRule, texts: ReadonlyMap<string, string>): string {
  const folder = folderOfPattern(rule.pathPattern)
  const plain =
    folder ??
    rule.pathPattern
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 60)
  for (let i = 1; ; i++) {
    const numbered = i === 1 ? (folder === null ? `pattern-${plain}` : plain) : `${plain}-${i}`
    const path = ['rules', numbered, `${wordOf(rule)}.rule.yaml`].filter((part) => part !== '').join('/')
    if (!texts.has(path)) return path
  }
}

/**
 * The rule as a file has it, without settings that equal their defaults. `place`: which file of a set it is, whose folder
 * says the path, and whose index the order.
 */
export function ruleFile(
  rule: ServerRule,
  place?: { index: number; folder: string },
): Record<string, unknown> {
  const plain = completed({ pathPattern: rule.pathPattern, proxyType: rule.proxyType }, place?.index ?? 0)
  const differing = (keys: (keyof ServerRule)[]) =>
    Object.fromEntries(
      keys.flatMap((key) => (rule[key] === plain[key] || rule[key] === null ? [] : [[key, rule[key]]])),
    )
  const isSaid = place !== undefined && folderOfPattern(rule.pathPattern) === place.folder
  return {
    ...given({ description: rule.description }),
    ...(isSaid ? {} : { pathPattern: rule.pathPattern }),
    ...given({ methods: rule.methods }),
    ...(place === undefined ? { order: rule.order } : differing(['order'])),
    ...differing(['timeout', 'isEnabled', 'debugEnabled']),
    ...(rule.proxyType === 'redirect' ? redirectFile(rule) : proxyFile(rule, differing)),
    ...(rule.pipelineConfig ? { pipeline: pipelineFile(rule.pipelineConfig) } : {}),
  }
}

const redirectFile = ({ targetUrl, status }: ServerRule): Record<string, unknown> => ({
  redirect: targetUrl,
  ...(status === DEFAULT_REDIRECT_STATUS ? {} : given({ status })),
})

const proxyFile = (
  rule: ServerRule,
  differing: (keys: (keyof ServerRule)[]) => Record<string, unknown>,
): Record<string, unknown> => ({
  ...(rule.proxyType === 'pipeline' ? {} : { targetUrl: rule.targetUrl }),
  ...differing(['stripPrefix', 'preserveHost', 'forwardCookies']),
  ...given({ headerConfig: rule.headerConfig }),
})

type Pipeline = NonNullable<ServerRule['pipelineConfig']>
type Step = Pipeline['steps'][number] & { code?: string }

function pipelineFile({ steps, postSteps, ...rest }: Pipeline): Record<string, unknown> {
  const stepFile = ({ id, name, handlerType, config, code, isEnabled }: Step) => ({
    ...given({ id, name }),
    handler: handlerType,
    ...given({ code, config, isEnabled }),
  })
  return {
    ...rest,
    steps: steps.map(stepFile),
    ...(postSteps === undefined ? {} : { postSteps: postSteps.map(stepFile) }),
  }
}

/** Moves the code of functions into files beside the rule, if it is a script that reads back unchanged. */
function takeOutCode(
  rule: ServerRule,
  path: string,
  texts: Map<string, string>,
  owners: Map<string, string>,
): ServerRule {
  if (!rule.pipelineConfig) return rule
  const base = path.slice(0, -'rule.yaml'.length)
  const { pipelineConfig } = rule
  const take = (step: Step, i: number): Step => {
    const code = step.config?.['code']
    if (typeof code !== 'string' || !isPlainScript(code)) return step
    const { code: _, ...config } = step.config ?? {}
    const safe = /^[A-Za-z0-9_-]{1,60}$/.test(step.id ?? '') ? step.id : `step${i + 1}`
    const file = `${base}${safe}.js`
    if (texts.has(file)) return step
    texts.set(file, code)
    owners.set(file, path)
    const { config: __, ...rest } = step
    return {
      ...rest,
      code: file.slice(file.lastIndexOf('/') + 1),
      ...(Object.keys(config).length > 0 ? { config } : {}),
    }
  }
  const { steps, postSteps } = pipelineConfig
  return {
    ...rule,
    pipelineConfig: {
      ...pipelineConfig,
      steps: steps.map(take),
      ...(postSteps === undefined
        ? {}
        : { postSteps: postSteps.map((step, i) => take(step, steps.length + i)) }),
    },
  }
}

function isPlainScript(code: string): boolean {
  try {
    const { imports, exports } = new Bun.Transpiler({ loader: 'js' }).scan(code)
    return imports.length === 0 && exports.length === 0 && code.isWellFormed() && !code.startsWith('\ufeff')
  } catch {
    return false
  }
}

/** Without settings that equal their defaults. */
function scheduleFile({ name: _, cron, timezone, rule, isEnabled, catchUp, description }: ServerSchedule) {
  const plain = { timezone: DEFAULT_ZONE, isEnabled: true, catchUp: 'none' }
  const differing = Object.entries({ timezone, isEnabled, catchUp }).filter(
    ([key, value]) => value !== plain[key as keyof typeof plain],
  )
  return { ...given({ description }), cron, rule, ...Object.fromEntries(differing) }
}

function plainField(field: unknown): unknown {
  const { unique, ...rest } = field as Record<string, unknown>
  return unique === true ? { ...rest, unique } : rest
}

const given = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null))

export const yamlOf = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
