import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makingRelease } from './release/testing/made-release.ts'

/**
 * npm test: types, lint, every test, the executable, a release, and the browser's journeys on it. Ends with the files that
 * took longest and `N passed, N failed`.
 * `npm test -- PATTERN …` runs only the tests whose file matches, without the rest. `npm run test:long` (`--long`) runs
 * the property tests and looks at every page in all widths, `npm run test:crash` (`--crash`) runs those that kill the server,
 * both in all their rounds.
 */
const root = join(import.meta.dir, '..')
const LONG_RUNS: Record<string, string> = { '--long': '.property.test.', '--crash': 'crash.process.test.' }
const TESTED = ['src', 'ui', 'migrations', 'scripts']
const SHELL = 'chromium-headless-shell'
const REPORTS = join(root, 'test-results')
const RELEASE = join(REPORTS, 'release')
/** How many files are named at the end. */
const SLOWEST = 5
/** The journeys that look at every page. */
const PAGES = ['accessibility.e2e.ts', 'explorer.e2e.ts']
const args = Bun.argv.slice(2)
const isLong = args.some((arg) => arg in LONG_RUNS)
const only = args.map((arg) => LONG_RUNS[arg] ?? arg)

type Count = { passed: number; failed: number }
type Step = { name: string; run: () => Promise<Count> }

const EXECUTABLE: Step = { name: 'executable', run: build }
/** One after the other; those of a line at once. */
const steps: Step[][] =
  only.length > 0
    ? [
        isLong ? [EXECUTABLE] : [],
        [{ name: 'tests', run: () => unitTests(only) }],
        args.includes('--long') ? [{ name: 'browser', run: () => browserTests(PAGES) }] : [],
      ]
    : [
        [
          ...['tsconfig.json', 'scripts/tsconfig.node.json', 'ui/tsconfig.browser.json'].map((project) => ({
            name: `types of ${project}`,
            run: () => command(['node_modules/.bin/tsc', '-p', project]),
          })),
          {
            name: 'lint',
            run: () => command(['node_modules/.bin/biome', 'check', '--error-on-warnings', '.']),
          },
          EXECUTABLE,
          { name: 'release', run: makeRelease },
        ],
        [{ name: 'tests', run: () => unitTests([]) }],
        [{ name: 'browser', run: () => browserTests([]) }],
      ]

let isBuilt = false
let isReleased = false
const durations: { file: string; ms: number }[] = []
const total: Count = { passed: 0, failed: 0 }
const failures: string[] = []
for (const together of steps) await Promise.all(together.map(take))
for (const { file, ms } of durations.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST))
  console.log(`slow: ${file} ${Math.round(ms / 1000)} s`)
// Once more at the end: who reads a long output reads its last lines.
for (const failure of failures) console.log(failure)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed === 0 ? 0 : 1)

async function take({ name, run }: Step): Promise<void> {
  const startedAt = performance.now()
  const { passed, failed } = await run()
  total.passed += passed
  total.failed += failed
  console.log(
    `${name}: ${passed} passed, ${failed} failed (${Math.round((performance.now() - startedAt) / 1000)} s)`,
  )
}

/** One check: it passes when the command ends with 0. */
async function command(argv: string[]): Promise<Count> {
  const { exitCode, output } = await capture(argv)
  if (exitCode === 0) return { passed: 1, failed: 0 }
  console.log(output)
  failures.push(`failed: ${argv.slice(0, 4).join(' ')}`)
  return { passed: 0, failed: 1 }
}

async function build(): Promise<Count> {
  const count = await command([process.execPath, 'scripts/build.ts'])
  isBuilt = count.failed === 0
  return count
}

/** Of this platform alone: `npm run test:release` makes the others. */
async function makeRelease(): Promise<Count> {
  const count = await command([process.execPath, ...makingRelease(RELEASE), '--only', 'linux-x64'])
  isReleased = count.failed === 0
  return count
}

async function unitTests(patterns: string[]): Promise<Count> {
  // Differences are applied by the program that people have.
  if (Bun.which('patch') === null) await install(['patch'], 'Install patch.')
  // It reads the unit that svc install writes.
  if (Bun.which('systemd-analyze') === null) await install(['systemd'], 'Install systemd-analyze.')
  const report = join(REPORTS, 'units.xml')
  mkdirSync(REPORTS, { recursive: true })
  rmSync(report, { force: true })
  const { exitCode, output } = await capture(
    [
      process.execPath,
      'test',
      // bunfig.toml has no place for it, and what a preloaded file sets holds for the first file of tests alone.
      '--timeout',
      isLong ? '3600000' : '100000',
      // A file at a time on each core, and one more: some files mostly wait, for a lock, a silence, an answer that never
      // comes. The files of a worker share their modules, as those of one process do.
      ...(isLong ? [] : [`--parallel=${navigator.hardwareConcurrency + 1}`, '--no-isolate']),
      ...(patterns.length > 0 ? patterns : TESTED),
      // They need real servers, or all platforms: `npm run test:store`, `npm run test:dns`, `npm run test:release`.
      '--path-ignore-patterns',
      '**/*.{store,release,dns}.test.ts',
      '--reporter=junit',
      `--reporter-outfile=${report}`,
    ],
    {
      ...(isLong ? { SVC_TEST_LONG: '1' } : {}),
      ...(isBuilt ? { SVC_TEST_EXECUTABLE: join(root, 'dist/svc') } : {}),
      ...(isReleased ? { SVC_TEST_RELEASE: RELEASE } : {}),
    },
  )
  console.log(output)
  failures.push(...failedTests(output))
  durations.push(...(await unitDurations(report)))
  const count = {
    passed: lastNumber(output, /^\s*(\d+) pass$/gm),
    failed: lastNumber(output, /^\s*(\d+) fail$/gm),
  }
  // A file that cannot be loaded fails the run without failing a test.
  return exitCode !== 0 && count.failed === 0 ? { ...count, failed: 1 } : count
}

async function browserTests(files: string[]): Promise<Count> {
  await installBrowser()
  const results = join(REPORTS, 'results.json')
  const argv = [
    'node_modules/.bin/playwright',
    'test',
    '--config',
    'ui/e2e/playwright.config.ts',
    '--reporter=list,json',
    ...files,
  ]
  const { exitCode, output } = await capture(argv, {
    ...(isLong ? { SVC_TEST_LONG: '1' } : {}),
    PLAYWRIGHT_JSON_OUTPUT_NAME: results,
    SVC_BUN: process.execPath,
  })
  console.log(output)
  failures.push(...failedJourneys(output))
  const report: {
    suites?: (Suite & { file: string })[]
    stats?: { expected: number; unexpected: number; flaky: number; skipped: number }
  } = await Bun.file(results)
    .json()
    .catch(() => ({}))
  for (const suite of report.suites ?? [])
    durations.push({ file: `ui/e2e/${suite.file}`, ms: browserMs(suite) })
  const { expected = 0, unexpected = 0, flaky = 0, skipped = 0 } = report.stats ?? {}
  const failed = unexpected + flaky + skipped
  return { passed: expected, failed: exitCode !== 0 && failed === 0 ? 1 : failed }
}

/**
 * Chromium from Debian's packages, unless `SVC_CHROMIUM` names one. Its shell without windows needs half the time; where that
 * cannot be installed, the whole browser does.
 */
async function installBrowser(): Promise<void> {
  if (process.env['SVC_CHROMIUM'] !== undefined || existsSync(`/usr/bin/${SHELL}`)) return
  const packages = existsSync('/usr/bin/chromium') ? [SHELL] : [SHELL, 'chromium']
  await install(packages, 'Install chromium, or name one with SVC_CHROMIUM.')
}

/** The first of the packages that there is, from the system's own. */
async function install(packages: string[], otherwise: string): Promise<void> {
  console.log(`Installing ${packages.join(' or ')} from the packages of the system …`)
  const attempts = packages.map((name) => `apt-get install -y -qq ${name}`).join(' || ')
  const { exitCode, output } = await capture(['sh', '-c', `apt-get update -qq && (${attempts})`], {
    DEBIAN_FRONTEND: 'noninteractive',
  })
  if (exitCode !== 0) console.log(`${output}\n${otherwise}`)
}

async function unitDurations(report: string): Promise<typeof durations> {
  const text = await Bun.file(report)
    .text()
    .catch(() => '')
  const suites = text.matchAll(/<testsuite name="([^"]+)" file="\1" .*?time="([\d.]+)"/g)
  return [...suites].map(([, file = '', seconds]) => ({ file, ms: Number(seconds) * 1000 }))
}

/** A file or a `describe` in it. */
type Suite = {
  suites?: Suite[]
  specs: { tests: { results: { duration: number }[] }[] }[]
}

function browserMs({ suites = [], specs }: Suite): number {
  const results = specs.flatMap(({ tests }) => tests.flatMap((test) => test.results))
  return (
    suites.reduce((ms, suite) => ms + browserMs(suite), 0) +
    results.reduce((ms, { duration }) => ms + duration, 0)
  )
}

/** Output of both streams, in the order it came. */
async function capture(
  argv: string[],
  env: Record<string, string> = {},
): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn(['sh', '-c', '"$@" 2>&1', 'sh', ...argv], {
    cwd: root,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'inherit',
    stdin: 'ignore',
  })
  let output = ''
  const reading = (async () => {
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) output += piece
  })()
  const exitCode = await child.exited
  // A test that failed may leave a server behind, which holds the output open.
  await Promise.race([reading, Bun.sleep(2_000)])
  return { exitCode, output }
}

/** The lines `(fail) name` of the runner, each after the file that it stands under. */
function failedTests(output: string): string[] {
  let file = ''
  // Behind this line the runner itself says them again, without their files.
  const [results = ''] = output.split(/^\d+ tests failed:$/m)
  return results.split('\n').flatMap((line) => {
    file = /^(\S+\.(?:test|e2e)\.tsx?):$/.exec(line)?.[1] ?? file
    return line.startsWith('(fail) ') ? [`failed: ${file} ${line.slice('(fail) '.length)}`] : []
  })
}

/** The lines `✘ 12 file:line:column › name` of the browser's runner. */
function failedJourneys(output: string): string[] {
  return [...output.matchAll(/^ *✘ +\d+ (.+)$/gm)].map(([, name = '']) => `failed: ${name}`)
}

function lastNumber(text: string, pattern: RegExp): number {
  return Number([...text.matchAll(pattern)].at(-1)?.[1] ?? 0)
}
