import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { until } from '../../src/testing/until.ts'
import { makeNpm } from './npm.ts'
import type { Release } from './release.ts'
import { type Ended, type NpmHome, npmHome } from './testing/npm-home.ts'
import { type NpmRegistry, startNpmRegistry } from './testing/npm-registry.ts'
import { sampleRelease } from './testing/sample-release.ts'

/** In the place of the executable: says what it was given, waits for signals when told to, and ends as told. */
const EXECUTABLE = `#!/bin/sh
case "$1" in
  tell) shift; printf '[%s]' "$@"; printf '\\n%s\\n%s\\n' "$PWD" "$HERON"; cat; echo 'and this' >&2 ;;
  end) exit "$2" ;;
  die) kill -"$2" $$ ;;
  wait) for name in INT TERM HUP; do trap "echo $name; exit 7" $name; done
        echo waiting; while :; do sleep 0.02; done ;;
  count) exec node -e '
    let told = 0
    process.on("SIGINT", () => told++ || setTimeout(() => process.exit(console.log("told", told)), 300))
    setInterval(() => console.log("waiting"), 20)' ;;
esac
`

let release: Release & { remove(): void }
let registry: NpmRegistry
let home: NpmHome
beforeAll(async () => {
  release = sampleRelease({}, EXECUTABLE)
  await makeNpm(release)
  registry = startNpmRegistry(join(release.out, 'npm'))
  home = npmHome(registry.url)
  expect((await home.run(['npm', 'install', 'heron'])).code).toBe(0)
})
afterAll(async () => {
  home.remove()
  release.remove()
  await registry.stop()
})

const binOf = ({ folder }: NpmHome) => join(folder, 'node_modules/.bin/svc')
const scopeOf = ({ folder }: NpmHome) => join(folder, 'node_modules/@kingfisher')

function start(args: readonly string[]) {
  const child = Bun.spawn([binOf(home), ...args], {
    cwd: home.folder,
    env: { ...home.env, HERON: 'grey' },
    stdin: new Blob(['what comes in\n']),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const ended = async (): Promise<Ended> => ({
    stdout: await new Response(child.stdout).text(),
    stderr: await new Response(child.stderr).text(),
    code: await child.exited,
  })
  return { child, ended }
}

test('npm asked for this platform alone, and nothing else was installed', () => {
  expect(registry.asked).toContain('tarballs/kingfisher-linux-x64-1.2.3.tgz')
  expect(registry.asked.filter((path) => path.startsWith('tarballs/'))).toHaveLength(2)
  expect(readdirSync(scopeOf(home))).toEqual(['linux-x64'])
})

describe('the executable gets and gives what the wrapper does', () => {
  test('arguments, folder, environment and the three streams', async () => {
    const args = ['a b', '', '--flag=ü', '$HOME', '"']
    const { code, stdout, stderr } = await start(['tell', ...args]).ended()
    expect(code).toBe(0)
    const given = args.map((arg) => `[${arg}]`).join('')
    expect(stdout).toBe(`${given}\n${home.folder}\ngrey\nwhat comes in\n`)
    expect(stderr).toBe('and this\n')
  })

  test.each([0, 1, 2, 3, 78, 255])('exit code %d', async (code) => {
    expect(await start(['end', String(code)]).ended()).toEqual({ code, stdout: '', stderr: '' })
  })

  test.each(['SIGKILL', 'SIGSEGV', 'SIGTERM'] as const)(
    'ended by %s it is 128 and its number',
    async (signal) => {
      const { code } = await start(['die', signal.slice(3)]).ended()
      expect(code).toBe(128 + constants.signals[signal])
    },
  )

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s is handed on', async (signal) => {
    const waiting = home.start([binOf(home), 'wait'])
    await until('the executable', () => waiting.output().includes('waiting'))
    waiting.kill(signal)
    expect(await waiting.ended).toBe(7)
    expect(waiting.output()).toBe(`waiting\n${signal.slice(3)}\n`)
  })
})

test('Ctrl-C at a terminal reaches the executable once', async () => {
  let output = ''
  const child = Bun.spawn([binOf(home), 'count'], {
    cwd: home.folder,
    env: home.env,
    terminal: {
      data(_terminal, bytes) {
        output += new TextDecoder().decode(bytes)
      },
    },
  })
  await until('the executable', () => output.includes('waiting'))
  child.terminal?.write('\x03')
  expect(await child.exited).toBe(0)
  await until('its last line', () => output.includes('told'))
  expect(output).toContain('told 1\r\n')
})

describe('where there is no executable it is said what to do', () => {
  let bare: NpmHome
  beforeEach(() => {
    bare = npmHome(registry.url)
  })
  afterEach(() => bare.remove())

  const PLATFORMS = 'linux-x64, linux-arm64, darwin-x64, darwin-arm64, windows-x64'

  async function installed(...flags: string[]): Promise<Ended> {
    expect((await bare.run(['npm', 'install', ...flags, 'heron'])).code).toBe(0)
    expect(existsSync(scopeOf(bare))).toBe(false)
    return bare.run([binOf(bare), 'version'])
  }

  function expectComplaint({ code, stdout, stderr }: Ended, ...parts: string[]): void {
    expect([code, stdout]).toEqual([1, ''])
    for (const part of [PLATFORMS, ...parts]) expect(stderr).toContain(part)
    expect(stderr).not.toContain('at Module')
  }

  test('left out by --omit=optional; the command that it names brings it', async () => {
    const refused = await installed('--omit=optional')
    expectComplaint(refused, 'linux-x64', '@kingfisher/linux-x64', '--omit=optional')
    const command = /^ {2}(npm install .*)$/m.exec(refused.stderr)?.[1] ?? ''
    expect((await bare.run(command.split(' '))).code).toBe(0)
    expect((await bare.run([binOf(bare), 'end', '5'])).code).toBe(5)
  })

  /** What Node says of the machine, told differently by a file that it loads first. */
  function pretending(program: string): Record<string, string> {
    const file = join(bare.folder, 'pretend.cjs')
    writeFileSync(file, program)
    return { NODE_OPTIONS: `--require ${file}` }
  }

  test('musl, for which npm installs none', async () => {
    await installed('--libc=musl')
    const musl = pretending('process.report.getReport = () => ({ header: {} })')
    expectComplaint(
      await bare.run([binOf(bare), 'version'], musl),
      'linux-x64',
      'musl',
      'glibc',
      'node:22-slim',
    )
  })

  test('a platform that has none', async () => {
    await installed('--os=freebsd', '--cpu=x64')
    for (const [os, cpu, platform] of [
      ['freebsd', 'x64', 'freebsd-x64'],
      ['linux', 'riscv64', 'linux-riscv64'],
      ['win32', 'arm64', 'windows-arm64'],
    ] as const) {
      const strange = pretending(
        `for (const [name, value] of Object.entries({ platform: '${os}', arch: '${cpu}' }))
          Object.defineProperty(process, name, { value })`,
      )
      const refused = await bare.run([binOf(bare), 'version'], strange)
      expectComplaint(refused, `there is no executable for ${platform}`, 'npx heron@1.2.3')
    }
  })

  test('an executable that is not one, or is not allowed to run, is named', async () => {
    expect((await bare.run(['npm', 'install', 'heron'])).code).toBe(0)
    const executable = join(scopeOf(bare), 'linux-x64/bin/svc')
    chmodSync(executable, 0o644)
    const refused = await bare.run([binOf(bare), 'version'])
    expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(executable) })
    // A loader that is not there: what Alpine makes of an executable for glibc.
    rmSync(executable)
    writeFileSync(executable, '#!/lib64/ld-of-nowhere.so\n', { mode: 0o755 })
    expect((await bare.run([binOf(bare), 'version'])).stderr).toContain(`${executable} cannot be run`)
    const musl = pretending('process.report.getReport = () => ({ header: {} })')
    expectComplaint(await bare.run([binOf(bare), 'version'], musl), 'musl')
  })
})
