import { METHODS } from 'node:http'
import { MAX_DESCRIPTION } from '../domain/description.ts'
import type { Problem } from '../domain/file-problems.ts'
import { isRecord } from '../domain/is-record.ts'
import { isHeaderName } from '../domain/names.ts'
import { parsePathPattern } from '../domain/path-pattern.ts'
import { REDIRECT_STATUSES } from '../domain/redirect-status.ts'
import { findSourceError, findTargetError } from '../domain/routing/redirect-rule.ts'
import {
  AUTH_IS_LEFT_OUT,
  isApiOfOriginal,
  isAuthOfOriginal,
  isPlainAddress,
  isRewritePath,
  warningOfOriginal,
} from '../domain/target-shape.ts'
import type { YamlFile } from '../domain/yaml-file.ts'
import { anything, type Check, Checker, flag, label, text, wholeNumber } from './checks.ts'
import type { KnownSchema } from './known-fields.ts'
import type { CompiledRule } from './push.ts'
import { readPipeline } from './read-pipeline.ts'
import { type Route, readRoute } from './route-path.ts'
import { fileProblem, type SetFiles } from './set-files.ts'

export type RuleSource = {
  path: string
  rule: CompiledRule
  at: { file: string; line: number; column: number }
}

const methods: Check = (value) =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => typeof one === 'string' && METHODS.includes(one.toUpperCase()))
    ? null
    : 'must be a list of HTTP methods, such as [GET, POST]'

const pathPattern: Check = (value) => {
  if (typeof value !== 'string') return 'must be a path, such as /api/*'
  const parsed = parsePathPattern(value)
  return parsed.ok ? null : parsed.error
}

const targetUrl: Check = (value) => {
  if (typeof value !== 'string') return 'must be an https address, or a path of the same deployment'
  if (isRewritePath(value) || isPlainAddress(value)) return null
  if (isApiOfOriginal(value) || isAuthOfOriginal(value)) return null
  if (!URL.canParse(value)) return 'must be an https address, or a path of the same deployment'
  return new URL(value).protocol === 'https:'
    ? 'must be an https address without spaces, backslashes and #'
    : 'must be an https address: http is not allowed'
}

const redirect: Check = (value) => {
  if (typeof value !== 'string') return 'must be a path, or an http or https address'
  const error = findTargetError(value)
  return error === null ? null : `is no target: ${error}`
}

const status: Check = (value) =>
  (REDIRECT_STATUSES as readonly unknown[]).includes(value)
    ? null
    : `must be one of ${REDIRECT_STATUSES.join(', ')}`

const PROXY_KEYS = {
  targetUrl,
  stripPrefix: flag,
  preserveHost: flag,
  forwardCookies: flag,
  headerConfig: anything,
} satisfies Record<string, Check>

/** contract §9.1. */
export const RULE_KEYS: Readonly<Record<string, Check>> = {
  description: text(MAX_DESCRIPTION),
  pathPattern,
  methods,
  order: wholeNumber(-1_000_000, 1_000_000),
  timeout: wholeNumber(100, 60_000),
  isEnabled: flag,
  debugEnabled: flag,
  pipeline: anything,
  redirect,
  status,
  ...PROXY_KEYS,
}

type RuleSet = {
  files: SetFiles
  schemas: ReadonlyMap<string, KnownSchema>
  /** The rule stands alone, in place of one of a set: its schemas are those of a project. */
  isOfProject?: boolean
  problems: Problem[]
  warnings: Problem[]
}

/** Compiles one rule file; returns nothing if it is too broken to continue. Adds to `problems` and `warnings`. */
export async function compileRule(
  { files, schemas, isOfProject = false, problems, warnings }: RuleSet,
  path: string,
  yaml: YamlFile,
): Promise<RuleSource[]> {
  const read = readRoute(path)
  if ('problem' in read) {
    problems.push(fileProblem(files, path, read.problem))
    return []
  }
  const checker = new Checker(yaml)
  const given = checker.object(yaml.value, [], RULE_KEYS)
  if (given === null) {
    problems.push(...checker.problems)
    return []
  }
  if (isOfProject && given['pathPattern'] === undefined)
    checker.report([], 'pathPattern is required: a path, such as /api/*')
  checkKind(given, read.route, checker)
  checkSource(given, read.route, checker)
  checkOriginal(given['targetUrl'], checker)
  const headerConfig = checkHeaders(given['headerConfig'], checker)
  const codeProblems: Problem[] = []
  const { folder } = read.route
  const pipeline =
    given['pipeline'] === undefined
      ? undefined
      : await readPipeline({ files, folder, checker, codeProblems, schemas, isOfProject }, given['pipeline'])
  problems.push(...checker.problems, ...codeProblems)
  warnings.push(...checker.warnings)
  const rule = ruleOf(given, read.route, headerConfig, pipeline)
  return [{ path, rule, at: { file: yaml.file, ...yaml.at([]) } }]
}

/** A target on the machine that the set was written for hinders no push. contract 14.1. */
function checkOriginal(target: unknown, checker: Checker): void {
  if (typeof target !== 'string') return
  if (isApiOfOriginal(target)) checker.warn(['targetUrl'], warningOfOriginal(target))
  if (isAuthOfOriginal(target)) checker.warn(['targetUrl'], AUTH_IS_LEFT_OUT)
}

function checkKind(given: Record<string, unknown>, { method }: Route, checker: Checker): void {
  const proxyKeys = Object.keys(given).filter((key) => key in PROXY_KEYS)
  const kind = 'pipeline' in given ? 'pipeline' : 'redirect' in given ? 'redirect' : null
  if (kind !== null)
    for (const key of proxyKeys)
      checker.report(
        [key],
        `${key} is for proxy rules, but this rule has a ${kind}: use one of the two`,
        'key',
      )
  if (kind === null && given['targetUrl'] === undefined)
    checker.report([], 'a rule must have a pipeline, a targetUrl for a proxy, or a redirect')
  if (kind === 'pipeline' && 'redirect' in given)
    checker.report(['redirect'], 'a rule has a pipeline or a redirect: use one of the two', 'key')
  if (kind !== 'redirect' && 'status' in given)
    checker.report(['status'], 'status is for a redirect, which this rule has not', 'key')
  if (given['methods'] !== undefined && method !== null)
    checker.report(
      ['methods'],
      'methods belongs in any.rule.yaml: the name of this file already sets the method',
      'key',
    )
}

/** What is no source of a redirect, but a path of other rules: it begins with a star or holds two. contract 13 §6. */
function checkSource(given: Record<string, unknown>, route: Route, checker: Checker): void {
  if (!('redirect' in given)) return
  const path = given['pathPattern'] ?? route.pathPattern
  if (typeof path !== 'string' || !parsePathPattern(path).ok) return
  const error = findSourceError(path)
  if (error === null) return
  if ('pathPattern' in given)
    checker.report(['pathPattern'], `pathPattern is no source of a redirect: ${error}`)
  else
    checker.report(
      [],
      `the path ${path} of its folders is no source of a redirect: ${error}; give a pathPattern`,
    )
}

function checkHeaders(value: unknown, checker: Checker): CompiledRule['headerConfig'] {
  if (value === undefined) return undefined
  const names: Check = (list) =>
    Array.isArray(list) && list.every((name) => typeof name === 'string' && isHeaderName(name))
      ? null
      : 'must be a list of header names'
  const given = checker.object(value, ['headerConfig'], { add: anything, forward: names, strip: names })
  if (given === null) return undefined
  const { add, ...rest } = given
  if (add === undefined) return rest
  if (!isRecord(add)) {
    checker.report(['headerConfig', 'add'], `${label(['headerConfig', 'add'])}must be a map of header names`)
    return rest
  }
  for (const [name, secret] of Object.entries(add)) {
    const path = ['headerConfig', 'add', name]
    if (!isHeaderName(name)) checker.report(path, `${name} is not a valid header name`, 'key')
    if (secret !== '' && secret !== null)
      checker.report(path, `${label(path)}must be empty: values are secrets and are set on the server`)
  }
  return { add: Object.fromEntries(Object.keys(add).map((name) => [name, ''])), ...rest }
}

function kindOf({ targetUrl, ...given }: Record<string, unknown>): CompiledRule['proxyType'] {
  if ('pipeline' in given) return 'pipeline'
  if ('redirect' in given) return 'redirect'
  return typeof targetUrl === 'string' && targetUrl.startsWith('/') ? 'internal_rewrite' : 'external_proxy'
}

function ruleOf(
  given: Record<string, unknown>,
  route: Route,
  headerConfig: CompiledRule['headerConfig'],
  pipelineConfig: CompiledRule['pipelineConfig'],
): CompiledRule {
  const named = (...keys: (keyof CompiledRule)[]) =>
    Object.fromEntries(keys.flatMap((key) => (given[key] === undefined ? [] : [[key, given[key]]])))
  const upper = Array.isArray(given['methods'])
    ? { methods: [...new Set(given['methods'].map((one) => String(one).toUpperCase()))] }
    : {}
  return {
    pathPattern: typeof given['pathPattern'] === 'string' ? given['pathPattern'] : route.pathPattern,
    ...(route.method === null ? {} : { method: route.method }),
    ...upper,
    proxyType: kindOf(given),
    ...(typeof given['redirect'] === 'string' ? { targetUrl: given['redirect'] } : {}),
    ...named('targetUrl', 'status', 'stripPrefix', 'order', 'timeout', 'preserveHost', 'forwardCookies'),
    ...(headerConfig === undefined ? {} : { headerConfig }),
    ...(pipelineConfig === undefined ? {} : { pipelineConfig }),
    ...named('isEnabled', 'debugEnabled', 'description'),
  }
}
