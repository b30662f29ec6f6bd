import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeInstallScript } from './install-script.ts'
import { makeManifest } from './manifest.ts'
import { makeSums } from './sums.ts'
import { type InstallHome, installHome, TOOLS } from './testing/install-run.ts'
import { type ReleaseServer, startReleaseServer } from './testing/release-server.ts'
import { OTHER_NAMES, type SampleRelease, sampleRelease } from './testing/sample-release.ts'

/** contract 19.2; bad releases and servers: install-faults.test.ts */
const EXECUTABLE = '#!/bin/sh\necho svc 1.2.3\n'
const NAME = `svc-linux-${process.arch}`

let release: SampleRelease
let script = ''
let server: ReleaseServer
beforeAll(async () => {
  release = sampleRelease({}, EXECUTABLE)
  for (const make of [makeInstallScript, makeManifest, makeSums]) await make(release)
  script = join(release.out, 'install.sh')
  server = await startReleaseServer(release.out)
})
afterAll(() => {
  server.stop()
  release.remove()
})

let machine: InstallHome
let dir = ''
beforeEach(() => {
  machine = installHome(script)
  dir = join(machine.home, 'a/bin')
})
afterEach(() => machine.remove())

const fetching = (...programs: string[]) => machine.path([...TOOLS, 'sha256sum', 'openssl', ...programs])

function expectInstalled(at = dir): void {
  expect(readdirSync(at)).toEqual(['svc'])
  expect(readFileSync(join(at, 'svc'), 'utf8')).toBe(EXECUTABLE)
  expect(statSync(join(at, 'svc')).mode & 0o777).toBe(0o755)
  expect(machine.left()).toEqual([])
}

describe.each(['dash', 'bash'])('%s', (shell) => {
  test.each<[what: string, from: () => string, program: string[]]>([
    ['a folder', () => release.out, []],
    ['curl', () => `${server.url}/`, ['curl']],
    ['wget', () => server.url, ['wget']],
  ])('installs by %s, and the second time says that it is there', async (_what, from, programs) => {
    const env = { PATH: fetching(...programs) }
    const args = ['--dir', dir, '--from', from()]
    const first = await machine.run(shell, args, env)
    expect(first).toEqual({
      code: 0,
      stdout: `svc 1.2.3 is at ${dir}/svc\n${dir} is not on the PATH: add it, or run ${dir}/svc\n`,
      stderr: '',
    })
    expectInstalled()
    const inode = statSync(join(dir, 'svc')).ino
    const asked = server.asked.length
    expect(await machine.run(shell, args, { PATH: `${env.PATH}:${dir}` })).toEqual({
      code: 0,
      stdout: `svc 1.2.3 is at ${dir}/svc already\n`,
      stderr: '',
    })
    expect(statSync(join(dir, 'svc')).ino).toBe(inode)
    expect(server.asked.slice(asked)).not.toContain(NAME)
  })

  test('a script that was cut anywhere does nothing', async () => {
    const text = readFileSync(script, 'utf8').trimEnd()
    const last = text.lastIndexOf('\n') + 1
    const cuts = [...Array(30).keys()].map((part) => Math.floor((text.length * part) / 30))
    for (let cut = last; cut < text.length; cut++) cuts.push(cut)
    const cutScript = join(machine.home, 'cut.sh')
    const cutMachine = installHome(cutScript)
    for (const cut of cuts) {
      writeFileSync(cutScript, text.slice(0, cut))
      await cutMachine.run(shell, ['--dir', dir, '--from', release.out])
      expect([cut, existsSync(dir), cutMachine.left()]).toEqual([cut, false, []])
    }
    cutMachine.remove()
  })
})

test('it holds the key that signs, and runs from standard input', async () => {
  expect(readFileSync(script, 'utf8')).toContain(`public_key='${release.publicKey}'`)
  const command = `sh -s -- --dir '${dir}' --from '${release.out}' < '${script}'`
  expect(
    Bun.spawnSync(['sh', '-c', command], { env: { ...process.env, TMPDIR: machine.home } }).exitCode,
  ).toBe(0)
  expect(readFileSync(join(dir, 'svc'), 'utf8')).toBe(EXECUTABLE)
})

test('an executable of before is replaced by rename, a link by the file', async () => {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(machine.home, 'before'), 'before')
  symlinkSync(join(machine.home, 'before'), join(dir, 'svc'))
  const { code } = await machine.run('dash', [`--dir=${dir}`, `--from=${release.out}`])
  expect(code).toBe(0)
  expectInstalled()
  expect(readFileSync(join(machine.home, 'before'), 'utf8')).toBe('before')
})

test('what has the bytes and may not be run is put right', async () => {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'svc'), EXECUTABLE, { mode: 0o644 })
  expect((await machine.run('dash', ['--dir', dir, '--from', release.out])).code).toBe(0)
  expectInstalled()
})

test('--dry-run checks the release and changes nothing', async () => {
  const { code, stdout } = await machine.run('dash', ['--dry-run', '--dir', dir, '--from', server.url])
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining(`would put svc 1.2.3 (${NAME} of ${server.url}) at ${dir}/svc`),
  ])
  expect(existsSync(dir)).toBe(false)
  expect(machine.left()).toEqual([])
})

describe('which version', () => {
  // Answers as the server of the index would.
  const curl = () =>
    `for url; do :; done
case $url in
  https://bittern.example/list/index.json) cat "$HOME/index.json" ;;
  https://bittern.example/list/1.2.3/*) cat "${release.out}/\${url##*/}" ;;
  *) exit 22 ;;
esac`
  const run = (args: string[]) =>
    machine.run('dash', ['--dir', dir, ...args], {
      PATH: machine.path([...TOOLS, 'sha256sum', 'openssl'], { curl: curl() }),
    })
  const writeIndex = (latest: string | null) =>
    writeFileSync(join(machine.home, 'index.json'), `${JSON.stringify({ latest, releases: [] }, null, 2)}\n`)

  test('the latest of the index, else the one that is named', async () => {
    writeIndex('1.2.3')
    expect((await run([])).code).toBe(0)
    expectInstalled()
    writeIndex(null)
    expect(await run([])).toMatchObject({
      code: 1,
      stderr: `install.sh: ${OTHER_NAMES.index} names no release; name a version by --version\n`,
    })
    expect((await run(['--version', '1.2.3'])).code).toBe(0)
    expect(await run(['--version', '1.2.4'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('1.2.4'),
    })
  })

  test('another release than the one that was asked for is refused, though its signature is good', async () => {
    const { code, stderr } = await machine.run('dash', [
      '--dir',
      dir,
      '--from',
      release.out,
      '--version',
      '1.2.2',
    ])
    expect([code, stderr]).toEqual([1, `install.sh: ${release.out} holds svc 1.2.3, not 1.2.2\n`])
    expect(existsSync(dir)).toBe(false)
  })
})

describe('which platform', () => {
  const on = (system: string, cpu: string, more: Record<string, string> = {}) =>
    machine.run('dash', ['--dry-run', '--dir', dir, '--from', release.out], {
      PATH: machine.path(
        TOOLS.filter((tool) => tool !== 'uname' && tool !== 'ldd').concat('sha256sum', 'openssl'),
        {
          uname: `case $1 in -s) echo ${system};; -m) echo ${cpu};; esac`,
          ldd: 'echo "ldd (GNU libc) 2.36"',
          ...more,
        },
      ),
    })

  test.each([
    ['Linux', 'x86_64', 'linux-x64'],
    ['Linux', 'aarch64', 'linux-arm64'],
    ['Darwin', 'x86_64', 'darwin-x64'],
    ['Darwin', 'arm64', 'darwin-arm64'],
  ])('%s %s is %s', async (system, cpu, platform) => {
    const { code, stdout } = await on(system, cpu)
    expect([code, stdout]).toEqual([0, expect.stringContaining(`svc-${platform} `)])
  })

  test.each([
    ['Linux', 'riscv64', 'linux-riscv64'],
    ['FreeBSD', 'amd64', 'FreeBSD-x64'],
    ['MINGW64_NT-10.0', 'x86_64', `npm install -g ${OTHER_NAMES.npm.package}`],
  ])('%s %s is refused and named', async (system, cpu, named) => {
    const { code, stderr } = await on(system, cpu)
    expect([code, stderr]).toEqual([1, expect.stringContaining(named)])
  })

  test('musl is refused and named', async () => {
    const ended = await on('Linux', 'x86_64', { ldd: 'echo "musl libc (x86_64)" >&2; exit 1' })
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('no svc for linux-x64-musl') })
  })
})

test.each([
  [['--fast'], 'there is no flag --fast'],
  [['now'], 'there is no flag now'],
  [['--dir'], '--dir needs a value'],
  [['--from', ''], '--from needs a value'],
  [['--version', 'v1.2.3'], '--version is a version such as 1.2.3'],
  [['--version', '1/../2'], '--version is a version such as 1.2.3'],
  [['--from', 'https://svc.example/?a'], 'without ? and #'],
])('%j is wrong usage', async (args, reason) => {
  const { code, stderr } = await machine.run('dash', args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
})
