import type { Problem } from '../domain/file-problems.ts'
import { isRecord } from '../domain/is-record.ts'
import { isHeaderName, isHeaderValue } from '../domain/names.ts'
import type { YamlFile } from '../domain/yaml-file.ts'
import { anything, type Check, Checker, label, type Path, text, wholeNumber } from './checks.ts'
import { multipart, storedFiles } from './test-parts.ts'
import { type StandIn, standIns } from './test-stand-ins.ts'

/** One case of `*.rule.test.yaml`: a request, or the run of a schedule, to a fresh site with these rules, and the expected result. */
export type RuleTest = {
  name: string
  line: number
  /** Records that exist before the request, by schema. */
  records: Record<string, Record<string, unknown>[]>
  /** Files that exist before the request, by path; see `filesOf`. */
  files: Record<string, unknown>
  secrets: Record<string, string>
  /** What answers at addresses outside. */
  outside: Record<string, StandIn>
  /** The signed-in user; `role` is their role on the project. */
  user: { email: string; role?: string; globalRole?: string } | null
  /** The schedule whose run is tested, in place of a request. */
  schedule: string | null
  request: {
    method?: string
    path?: string
    query?: Record<string, unknown>
    headers?: Record<string, string>
    json?: unknown
    form?: Record<string, unknown>
    /** See `partsOf`. */
    multipart?: Record<string, unknown>
    body?: string
  }
  expect: {
    status?: number
    headers?: Record<string, string>
    body?: unknown
    bodyContains?: string | string[]
    /** The number of records, or exactly these in any order. */
    records?: Record<string, number | unknown[]>
    /** The number of mails, or the contents of each, in order. Mails of post steps count too. */
    mails?: number | unknown[]
    /** The number of files of the project. */
    files?: number
    /** There is a file with these; in `path` a `*` stands for anything. */
    file?: { path?: string; size?: number; contentType?: string }
  }
}

/** One case of `*.fn.test.yaml`: the input of the code, and what it returns or the message that it throws. */
export type FunctionTest = {
  name: string
  line: number
  input: Record<string, unknown>
  returns?: unknown
  throws?: string
}

type TestFile<T> = { target: string | null; tests: T[]; problems: Problem[] }

const map: Check = (value) => (isRecord(value) ? null : 'must be a map')
const status: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 599
    ? null
    : 'must be a status such as 200'
const texts: Check = (value) =>
  (Array.isArray(value) ? value : [value]).every((one) => typeof one === 'string')
    ? null
    : 'must be a text or a list of texts'

const method: Check = (value) =>
  typeof value === 'string' && /^[A-Za-z-]{1,20}$/.test(value) ? null : 'must be an HTTP method, such as POST'
const path: Check = (value) =>
  typeof value === 'string' && value.startsWith('/') ? null : 'must be a path, which begins with /'
const headers: Check = (value) => {
  if (!isRecord(value)) return 'must be a map'
  const wrong = Object.entries(value).find(
    ([name, one]) => !isHeaderName(name) || !isHeaderValue(String(one)),
  )
  return wrong === undefined ? null : `must be headers, but ${JSON.stringify(wrong[0])} is not one`
}
const secrets: Check = (value) =>
  isRecord(value) && Object.values(value).every((one) => typeof one !== 'object')
    ? null
    : 'must be a map of names to texts'
const storedRecords: Check = (value) =>
  isRecord(value) && Object.values(value).every((list) => Array.isArray(list) && list.every(isRecord))
    ? null
    : 'must be a map of schemas to lists of records'
const foundRecords: Check = (value) =>
  isRecord(value) && Object.values(value).every((one) => typeof one === 'number' || Array.isArray(one))
    ? null
    : 'must be a map of schemas to a number, or to a list of records'

const foundMails: Check = (value) =>
  typeof value === 'number' || Array.isArray(value)
    ? null
    : 'must be a number, or a list of mails: { to, subject, text, replyTo }'

const REQUEST_KEYS = {
  method,
  path,
  query: map,
  headers,
  json: anything,
  form: map,
  multipart,
  body: text(1_000_000),
}
const EXPECT_KEYS = {
  status,
  headers,
  body: anything,
  bodyContains: texts,
  records: foundRecords,
  mails: foundMails,
  files: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  file: anything,
}
const FILE_KEYS = { path: text(2000), size: wholeNumber(0, Number.MAX_SAFE_INTEGER), contentType: text(200) }
const USER_KEYS = { email: text(200), role: text(20), globalRole: text(20) }

export function readRuleTests(yaml: YamlFile): TestFile<RuleTest> {
  return readTests(
    yaml,
    'rule',
    (given, path, checker) => {
      for (const [key, keys] of Object.entries({
        request: REQUEST_KEYS,
        expect: EXPECT_KEYS,
        user: USER_KEYS,
      }))
        if (given[key] !== undefined && given[key] !== null) checker.object(given[key], [...path, key], keys)
      if (typeof given['schedule'] === 'string' && given['request'] !== undefined)
        checker.report(
          [...path, 'request'],
          `${label([...path, 'request'])}cannot stand beside schedule`,
          'key',
        )
      checkContent(given['request'], [...path, 'request'], checker)
      if (isRecord(given['expect']) && given['expect']['file'] !== undefined)
        checker.object(given['expect']['file'], [...path, 'expect', 'file'], FILE_KEYS)
      if (given['expect'] === undefined) checker.report(path, `${label(path)}expect is required`)
      if (isRecord(given['user']) && given['user']['email'] === undefined)
        checker.report([...path, 'user'], `${label([...path, 'user'])}email is required`)
      return {
        records: (given['records'] ?? {}) as RuleTest['records'],
        files: (given['files'] ?? {}) as RuleTest['files'],
        secrets: (given['secrets'] ?? {}) as RuleTest['secrets'],
        outside: (given['outside'] ?? {}) as RuleTest['outside'],
        user: (given['user'] ?? null) as RuleTest['user'],
        schedule: (given['schedule'] ?? null) as RuleTest['schedule'],
        request: (given['request'] ?? {}) as RuleTest['request'],
        expect: (given['expect'] ?? {}) as RuleTest['expect'],
      }
    },
    {
      records: storedRecords,
      files: storedFiles,
      secrets,
      outside: standIns,
      user: anything,
      schedule: text(100),
      request: map,
      expect: map,
    },
  )
}

const CONTENTS = ['json', 'form', 'multipart', 'body']

function checkContent(request: unknown, path: Path, checker: Checker): void {
  const given = CONTENTS.filter((key) => isRecord(request) && request[key] !== undefined)
  for (const key of given.slice(1))
    checker.report(
      [...path, key],
      `${label([...path, key])}cannot be sent together with ${given[0]}: use one of json, form, multipart and body`,
      'key',
    )
}

export function readFunctionTests(yaml: YamlFile): TestFile<FunctionTest> {
  return readTests(
    yaml,
    'code',
    (given, path, checker) => {
      if ('returns' in given === 'throws' in given)
        checker.report(path, `${label(path)}must have either returns or throws`)
      return {
        input: (given['input'] ?? {}) as Record<string, unknown>,
        ...('returns' in given ? { returns: given['returns'] } : {}),
        ...(typeof given['throws'] === 'string' ? { throws: given['throws'] } : {}),
      }
    },
    { input: map, returns: anything, throws: text() },
  )
}

function readTests<T>(
  yaml: YamlFile,
  targetKey: 'rule' | 'code',
  readOne: (given: Record<string, unknown>, path: Path, checker: Checker) => T,
  keys: Readonly<Record<string, Check>>,
): TestFile<T & { name: string; line: number }> {
  const checker = new Checker(yaml)
  const given =
    yaml.problems.length > 0 ? null : checker.object(yaml.value, [], { [targetKey]: text(), tests: anything })
  const list = given?.['tests']
  if (given !== null && !Array.isArray(list)) checker.report(['tests'], 'tests must be a list')
  const tests = (Array.isArray(list) ? list : []).flatMap((one, i) => {
    const path = ['tests', i]
    const test = checker.object(one, path, { name: text(200), ...keys })
    if (test === null) return []
    if (typeof test['name'] !== 'string') checker.report(path, `${label(path)}name is required`)
    return [{ ...readOne(test, path, checker), name: String(test['name']), line: yaml.at(path).line }]
  })
  const target = given?.[targetKey]
  return {
    target: typeof target === 'string' ? target : null,
    tests,
    problems: [...yaml.problems, ...checker.problems],
  }
}

/**
 * Says where `actual` differs from `expected`. Maps may have more keys; everything else must be equal. Null if it
 * matches.
 */
export function mismatch(expected: unknown, actual: unknown, at = 'body'): string | null {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `${at} is ${short(actual)}, not a list`
    if (actual.length !== expected.length)
      return `${at} has ${actual.length} items, not ${expected.length}: ${short(actual)}`
    return firstOf(expected.map((one, i) => mismatch(one, actual[i], `${at}[${i}]`)))
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual))
      return `${at} is ${short(actual)}, not a map`
    const given = actual as Record<string, unknown>
    return firstOf(Object.entries(expected).map(([key, one]) => mismatch(one, given[key], `${at}.${key}`)))
  }
  return Object.is(expected, actual) ? null : `${at} is ${short(actual)}, not ${short(expected)}`
}

const firstOf = (found: (string | null)[]): string | null => found.find((one) => one !== null) ?? null

function short(value: unknown): string {
  const json = JSON.stringify(value) ?? 'missing'
  return json.length > 200 ? `${json.slice(0, 200)}…` : json
}
