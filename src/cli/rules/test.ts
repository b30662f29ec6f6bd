import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { formatProblem, type Problem } from '../../domain/file-problems.ts'
import { readYaml } from '../../domain/yaml-file.ts'
import { bundleCode, insidePath } from '../../rules/code.ts'
import { isTestFile } from '../../rules/compile.ts'
import { fileProblem, shownPath } from '../../rules/set-files.ts'
import { readFunctionTests, readRuleTests } from '../../rules/test-file.ts'
import { EXIT, type Io, printable, printableJson } from '../command.ts'
import { headersWithoutValue, withHeaderValues } from '../header-values.ts'
import { openLab } from '../lab.ts'
import { labSettings } from '../lab-settings.ts'
import { counted, type LoadedSet, loadSets, type RulesFlags, requireValid } from './settings.ts'
import { TestFailure } from './test-failure.ts'
import { runFunctionTest, runRuleTest } from './test-run.ts'

type TestResult = { file: string; line: number; name: string; failure: string | null }

/** Runs the tests of the sets on a service of their own, kept in memory. 1 when any fails, or a file is wrong. */
export async function testRules(words: string[], flags: RulesFlags, io: Io): Promise<number> {
  const sets = requireValid(await loadSets(words, io), flags, io)
  const { results, problems } = await runTests(sets, labSettings(flags, io.env), io.env)
  const failed = results.filter(({ failure }) => failure !== null)
  if (flags.json)
    io.stdout.write(
      `${printableJson({ passed: results.length - failed.length, failed: failed.length, results, problems })}\n`,
    )
  else writeResults(results, problems, io)
  return failed.length + problems.length > 0 ? EXIT.failed : EXIT.ok
}

/** Every test of valid sets. `problems`: what is wrong with the test files themselves. `settings` are those of the lab. */
export async function runTests(
  sets: readonly LoadedSet[],
  settings: Record<string, string>,
  env: Io['env'],
): Promise<{ results: TestResult[]; problems: Problem[] }> {
  const results: TestResult[] = []
  const problems: Problem[] = []
  const ready = sets.map((set) => withValues(set, env))
  const lab = await openLab(settings)
  try {
    for (const set of ready)
      for (const path of set.files.paths.filter(isTestFile)) {
        const found = path.endsWith('.rule.test.yaml')
          ? await runRuleFile(lab, set, path, problems)
          : await runFunctionFile(lab, set, path, problems)
        results.push(...found)
      }
  } finally {
    await lab.close()
  }
  return { results, problems }
}

function withValues(set: LoadedSet, env: Io['env']): LoadedSet {
  const { push } = set.compiled
  return push === null ? set : { ...set, compiled: { ...set.compiled, push: withHeaderValues(push, env) } }
}

type Lab = Awaited<ReturnType<typeof openLab>>

async function runRuleFile(
  lab: Lab,
  set: LoadedSet,
  path: string,
  problems: Problem[],
): Promise<TestResult[]> {
  const yaml = open(set, path)
  const { target, tests, problems: wrong } = readRuleTests(yaml)
  problems.push(...wrong)
  const rulePath = besides(path, target ?? (path.split('/').at(-1) ?? '').replace('.test.yaml', '.yaml'))
  const index = set.compiled.rulePaths.indexOf(rulePath)
  const rule = set.compiled.push?.rules[index]
  if (rule === undefined)
    problems.push(fileProblem(set.files, path, `there is no rule ${rulePath}; name it as "rule"`))
  if (wrong.length > 0 || rule === undefined) return []
  const reasons = headersWithoutValue([rule])
  return inTurn(yaml.file, tests, async (test) => {
    const failure = await runRuleTest(lab, set, rule, test, (name) => bytesBeside(set, path, name))
    return failure === null ? null : [failure, ...reasons].join('; ')
  })
}

async function runFunctionFile(
  lab: Lab,
  set: LoadedSet,
  path: string,
  problems: Problem[],
): Promise<TestResult[]> {
  const yaml = open(set, path)
  const { target, tests, problems: wrong } = readFunctionTests(yaml)
  problems.push(...wrong)
  const base = (path.split('/').at(-1) ?? '').replace('.fn.test.yaml', '')
  const candidates = target === null ? [`${base}.ts`, `${base}.js`, `${base}.mjs`] : [target]
  const code = candidates.map((one) => besides(path, one)).find((one) => set.files.paths.includes(one))
  if (code === undefined)
    problems.push(
      fileProblem(set.files, path, `there is no ${candidates.join(' or ')} beside it; name it as "code"`),
    )
  const bundled = code === undefined ? { problems: [] } : await bundleCode(set.files, code)
  if ('problems' in bundled) problems.push(...bundled.problems)
  if (wrong.length > 0 || !('code' in bundled)) return []
  return inTurn(yaml.file, tests, (test) => runFunctionTest(lab, bundled.code, test))
}

/** What `run` gives of each: null, or why it failed. */
async function inTurn<T extends { line: number; name: string }>(
  file: string,
  tests: readonly T[],
  run: (test: T) => Promise<string | null>,
): Promise<TestResult[]> {
  const results: TestResult[] = []
  for (const test of tests) results.push({ file, line: test.line, name: test.name, failure: await run(test) })
  return results
}

function open({ files }: LoadedSet, path: string) {
  const read = files.read(path)
  const file = shownPath(files, path)
  if ('text' in read) return readYaml(file, read.text)
  return { ...readYaml(file, ''), problems: [fileProblem(files, path, read.problem)] }
}

/** The bytes of a file that a test names. */
function bytesBeside({ folder, files }: LoadedSet, path: string, name: string): Uint8Array {
  const inside = insidePath(path.slice(0, path.lastIndexOf('/')), name)
  if (inside === null) throw new TestFailure(`${name} lies outside the folder of the set`)
  const absolute = join(folder, inside)
  if (statSync(absolute, { throwIfNoEntry: false })?.isFile() !== true)
    throw new TestFailure(`there is no file ${shownPath(files, inside)}`)
  return readFileSync(absolute)
}

const besides = (path: string, name: string): string =>
  insidePath(path.slice(0, path.lastIndexOf('/')), name) ?? name

export function writeResults(results: readonly TestResult[], problems: readonly Problem[], io: Io): void {
  for (const { file, line, name, failure } of results) {
    if (failure === null) io.stdout.write(`pass  ${printable(file)}: ${printable(name)}\n`)
    else io.stdout.write(`FAIL  ${printable(`${file}:${line}:1 ${name}: ${failure}`)}\n`)
  }
  for (const problem of problems) io.stderr.write(`${printable(formatProblem(problem))}\n`)
  const failed = results.filter(({ failure }) => failure !== null).length
  io.stdout.write(`${counted(results.length - failed, 'test')} passed, ${failed} failed\n`)
}
