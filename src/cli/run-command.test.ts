import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../release-info.ts'
import { adminCommand } from './admin.ts'
import { type Command, CommandFailure, type Commands, parseFlags } from './command.ts'
import { helpCommand } from './help.ts'
import { keyCommand } from './key.ts'
import { rulesCommand } from './rules.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'
import { versionCommand } from './version.ts'

const serve: Command = {
  summary: 'Run the appliance',
  usage: 'usage: svc serve [--port N]',
  run(args, io) {
    const { values } = parseFlags({ args, options: { port: { type: 'string' }, all: { type: 'boolean' } } })
    if (values.port === 'taken') throw new CommandFailure('the port is taken\x1b[2J', 78)
    io.stdout.write(`serving on ${values.port ?? 3000}\n`)
    return 0
  },
}
const commands: Commands = {
  serve: () => serve,
  key: () => ({ ...serve, usage: 'usage: svc key create NAME', verbs: ['create'] }),
  version: () => versionCommand,
  help: () => helpCommand(() => commands),
}

const cases: [argv: string[], code: number, out: string, err: string][] = [
  [[], 0, 'serving on 3000\n', ''],
  [['--port', '80'], 0, 'serving on 80\n', ''],
  [['serve', '--port=81'], 0, 'serving on 81\n', ''],
  [['serve', '--help'], 0, 'usage: svc serve [--port N]\n', ''],
  [['help', 'serve'], 0, 'usage: svc serve [--port N]\n', ''],
  [['--help', 'serve'], 0, 'usage: svc serve [--port N]\n', ''],
  [['help', 'key', 'create'], 0, 'usage: svc key create NAME\n', ''],
  [['key', 'create', '--help'], 0, 'usage: svc key create NAME\n', ''],
  [['version'], 0, `svc ${VERSION}\n`, ''],
  [['--version'], 0, `svc ${VERSION}\n`, ''],
  [['version', '--json'], 0, `{"version":"${VERSION}","publicKey":null}\n`, ''],
  [['serve', '--port', 'taken'], 78, '', 'svc serve: the port is taken [2J\n'],
  [['toString'], 2, '', 'svc: there is no command "toString"; svc help lists them\n'],
]

test.each(cases)('svc %p', async (argv, code, out, err) => {
  const io = testIo()
  expect(await runCommand(commands, argv, io, 'serve')).toBe(code)
  expect(io.out()).toBe(out)
  expect(io.err()).toBe(err)
})

test.each([
  [['serve', '--verbose']],
  [['serve', 'now']],
  [['version', '--long']],
  [['help', 'fly']],
  [['help', 'serve', 'version']],
  [['help', 'key', 'destroy']],
  [['help', 'key', 'create', 'x']],
])('svc %p: code 2 and the usage', async (argv) => {
  const io = testIo()
  expect(await runCommand(commands, argv, io, 'serve')).toBe(2)
  expect(io.err()).toContain('usage: svc')
  expect(io.out()).toBe('')
})

test.each([
  [
    ['serve', '--port', '--help-me'],
    '--port needs a value; one that begins with a dash is written as --port=-…',
  ],
  [['serve', '--all=1'], '--all takes no value'],
  [['serve', "it's"], 'it takes flags only, not "it\'s"'],
])('svc %p says in one line what was wrong', async (argv, message) => {
  const io = testIo()
  expect(await runCommand(commands, argv, io, 'serve')).toBe(2)
  expect(io.err()).toStartWith(`svc serve: ${message}\n\nusage`)
})

test('help that cannot be written is a refusal of the machine', async () => {
  const write = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  const io = testIo({ stdout: { write, put: async () => 0 } })
  expect(await runCommand(commands, ['serve', '--help'], io, 'serve')).toBe(1)
  expect(io.err()).toBe('svc serve: ENOSPC: no space left on device, write\n')
})

test('a flag without its value is named', async () => {
  const io = testIo()
  expect(await runCommand(commands, ['serve', '--port'], io, 'serve')).toBe(2)
  expect(io.err()).toStartWith('svc serve: --port needs a value\n')
})

test('wrong usage shows what was wrong and the synopsis, and no more', async () => {
  const wordy: Command = {
    ...serve,
    usage: 'usage: svc serve [--port N]\n       svc serve\n\nServes.\n\nMore.',
  }
  const io = testIo()
  expect(await runCommand({ serve: () => wordy }, ['serve', '--verbose'], io, 'serve')).toBe(2)
  expect(io.err()).toBe(
    'svc serve: there is no flag --verbose\n\nusage: svc serve [--port N]\n       svc serve\nsvc help serve explains it.\n',
  )
})

test('help lists every command with its summary', async () => {
  const io = testIo()
  expect(await runCommand(commands, ['help'], io, 'serve')).toBe(0)
  expect(io.out()).toContain('  serve    Run the appliance\n')
  expect(io.out()).toContain('  version  Print the version\n')
})

test('a bug is not dressed up as a refusal', async () => {
  const broken: Command = {
    ...serve,
    run() {
      throw new TypeError('x is not a function')
    },
  }
  await expect(runCommand({ broken: () => broken }, ['broken'], testIo(), 'broken')).rejects.toThrow(
    TypeError,
  )
})

test.each([
  ['EACCES', "EACCES: permission denied, open '/x'"],
  ['ENOENT', "ENOENT: no such file or directory, mkdtemp '/nowhere/svc-lab-XXXXXX'"],
  ['EEXIST', "EEXIST: file already exists, mkdir '/a-file'"],
  ['ENOSPC', 'ENOSPC: no space left on device'],
  ['SQLITE_FULL', 'database or disk is full'],
])('what the machine refuses by %s is one line', async (code, text) => {
  const refused = Object.assign(new Error(text), { code })
  const failing: Command = { ...serve, run: () => Promise.reject(new Error('query', { cause: refused })) }
  const io = testIo()
  expect(await runCommand({ serve: () => failing }, [], io, 'serve')).toBe(1)
  expect(io.err()).toBe(`svc serve: ${text}\n`)
})

test('of a database that is held it is said by whom', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-held-'))
  const [holder, late] = [1, 2].map(() => new Database(join(folder, 'svc.db'), { create: true }))
  holder?.run('BEGIN EXCLUSIVE')
  const failing: Command = { ...serve, run: async () => late?.run('BEGIN IMMEDIATE').changes ?? 0 }
  const io = testIo()
  expect(await runCommand({ serve: () => failing }, [], io, 'serve')).toBe(75)
  expect(io.err()).toStartWith('svc serve: database is locked: another program holds it')
  for (const one of [holder, late]) one?.close()
  rmSync(folder, { recursive: true })
})

test('a fault of ours is thrown on', async () => {
  const failing: Command = { ...serve, run: () => Promise.reject(new TypeError('x is undefined')) }
  await expect(runCommand({ serve: () => failing }, [], testIo(), 'serve')).rejects.toThrow('x is undefined')
})

test.each([
  ['rules', rulesCommand, 'push'],
  ['admin', adminCommand, 'reset-mfa'],
  ['key', keyCommand, 'rotate-secret'],
])('svc help %s explains what it can be told to do', async (name, command, verb) => {
  const io = testIo()
  const real: Commands = { [name]: () => command, help: () => helpCommand(() => real) }
  expect(await runCommand(real, ['help', name, verb], io, 'serve')).toBe(0)
  expect(io.out()).toBe(`${command.usage}\n`)
  for (const one of command.verbs ?? [])
    expect(command.usage).toMatch(new RegExp(`^ *${one}\\b|; ${one}\\b`, 'm'))
})
