import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeActions } from './actions.ts'
import { makeNpm } from './npm.ts'
import { type ActionRun, actionRun } from './testing/action-run.ts'
import { type NpmRegistry, startNpmRegistry } from './testing/npm-registry.ts'
import { type SampleRelease, sampleRelease } from './testing/sample-release.ts'

/** How the rules action comes by svc, with packages whose executable is a script. contract 19.2 */
const EXECUTABLE = `#!/bin/sh
case $1 in
  version) echo svc 1.2.3 ;;
  *) echo '{"ruleSets":[{"name":"book","ruleSetId":"1","created":[],"updated":[],"deleted":[],"unchanged":[],"missingSecrets":[],"warnings":[]}]}' ;;
esac
`
const PLATFORM = `linux-${process.arch}`
const INPUTS = { path: 'book', 'api-url': 'http://127.0.0.1:9', 'api-key': 'svc_key', 'svc-version': '1.2.3' }

let release: SampleRelease
let registry: NpmRegistry
beforeAll(async () => {
  release = sampleRelease({}, EXECUTABLE)
  await makeNpm(release)
  await makeActions(release)
  registry = startNpmRegistry(join(release.out, 'npm'))
})
afterAll(async () => {
  await registry.stop()
  release.remove()
})

let runner: ActionRun
const use = (programs: readonly string[]) => {
  runner = actionRun(join(release.out, 'actions/deploy-proxy-rules'), programs)
}
beforeEach(() => use(['npm']))
afterEach(() => runner.remove())

const run = (inputs: Record<string, string> = {}, env: Record<string, string | undefined> = {}) =>
  runner.run({ ...INPUTS, ...inputs }, { npm_config_registry: registry.url, ...env })
const installed = (version: string) => join(runner.toolCache, 'svc', version, PLATFORM)

test('npm installs it among the tools of the runner, where it is found the next time', async () => {
  const first = await run()
  expect([first.code, first.outputs['rule-set-names']]).toEqual([0, 'book'])
  expect(first.stdout).toContain('No svc on the PATH: npm installs heron@1.2.3')
  expect(readdirSync(join(runner.toolCache, 'svc/1.2.3'))).toEqual([PLATFORM])
  const asked = registry.asked.length
  const second = await run()
  expect([second.code, second.outputs['rule-set-names']]).toEqual([0, 'book'])
  expect(second.stdout).not.toContain('npm')
  expect(registry.asked.length).toBe(asked)
}, 60_000)

test('without RUNNER_TOOL_CACHE it is in RUNNER_TEMP, and without the input its own version', async () => {
  const { code, stdout } = await run(
    { 'svc-version': '' },
    { RUNNER_TOOL_CACHE: undefined, RUNNER_TEMP: runner.toolCache },
  )
  expect([code, stdout]).toEqual([0, expect.stringContaining('heron@1.2.3')])
  expect(existsSync(installed('1.2.3'))).toBe(true)
}, 60_000)

test('svc-path comes first, then the PATH', async () => {
  const folder = join(runner.workspace, 'bin')
  mkdirSync(folder)
  const svc = (name: string) => EXECUTABLE.replace('"book"', `"${name}"`)
  writeFileSync(join(folder, 'mine'), svc('by path'), { mode: 0o755 })
  writeFileSync(join(folder, 'svc'), svc('on the PATH'), { mode: 0o755 })
  const path = `${folder}:${runner.workspace}/../path`
  expect((await run({}, { PATH: path })).outputs['rule-set-names']).toBe('on the PATH')
  expect((await run({ 'svc-path': join(folder, 'mine') }, { PATH: path })).outputs['rule-set-names']).toBe(
    'by path',
  )
  expect(readdirSync(runner.toolCache)).toEqual([])
})

describe('one error, with the way out, and nothing is left', () => {
  const expectError = async (ended: ReturnType<typeof run>, reason: string) => {
    const { code, stdout } = await ended
    const errors = stdout.split('\n').filter((line) => line.startsWith('::error::'))
    expect([code, errors]).toEqual([1, [expect.stringContaining(reason)]])
    expect(errors[0]).toContain('svc-path')
    const versions = join(runner.toolCache, 'svc')
    for (const version of existsSync(versions) ? readdirSync(versions) : [])
      expect(readdirSync(join(versions, version))).toEqual([])
  }

  test('npm is missing', async () => {
    use([])
    await expectError(run(), 'no npm that could install it')
  })

  test('a version that the registry does not have: the last line of npm', async () => {
    await expectError(run({ 'svc-version': '9.9.9' }), 'npm could not install heron@9.9.9: npm error')
  }, 60_000)

  test('a registry that is not there', async () => {
    const env = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' }
    await expectError(run({}, env), 'npm could not install heron@1.2.3: npm error')
  }, 60_000)

  test('a registry without the executable of this machine', async () => {
    const wrapper = join(release.out, 'wrapper')
    mkdirSync(wrapper)
    Bun.spawnSync(['cp', join(release.out, 'npm/heron-1.2.3.tgz'), wrapper])
    const poor = startNpmRegistry(wrapper)
    await expectError(run({}, { npm_config_registry: poor.url }), 'npm could not install heron@1.2.3: ')
    await poor.stop()
    rmSync(wrapper, { recursive: true })
  }, 60_000)

  test('a runner that has no place for tools', async () => {
    await expectError(run({}, { RUNNER_TOOL_CACHE: undefined, RUNNER_TEMP: undefined }), 'RUNNER_TOOL_CACHE')
  })
})

test('npm does not get to see the key', async () => {
  use([])
  const seen = join(runner.workspace, 'seen')
  writeFileSync(join(runner.workspace, 'npm'), `#!/bin/sh\n/usr/bin/env > "${seen}"\nexit 1\n`, {
    mode: 0o755,
  })
  await run({}, { PATH: `${runner.workspace}:${runner.workspace}/../path` })
  expect(await Bun.file(seen).text()).toContain('npm_config_registry')
  expect(await Bun.file(seen).text()).not.toContain(INPUTS['api-key'])
})
