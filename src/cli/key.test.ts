import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../db/open.ts'
import { lockDataDir } from '../platform/instance-lock.ts'
import { readSecretKeys } from '../platform/secret-keys.ts'
import { keyCommand } from './key.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-key-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const keyFile = () => join(folder, 'secret.key')

async function svc(args: string[], env: Record<string, string> = {}) {
  const io = testIo({ env: { DATA_DIR: folder, ...env } })
  const code = await runCommand({ key: () => keyCommand }, ['key', ...args], io, 'key')
  return { code, out: io.out(), err: io.err() }
}

function makeDatabase(): void {
  openDb(join(folder, 'svc.db'), 0).sqlite.close()
  readSecretKeys(keyFile())
}

test('create prints the key and nothing else', async () => {
  makeDatabase()
  const { code, out, err } = await svc(['create', 'ci'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^svc_[\w-]{43}\n$/)
})

test('rotate-secret leaves one new key, says so on stderr and never shows it', async () => {
  makeDatabase()
  const [old] = readSecretKeys(keyFile())
  const { code, out, err } = await svc(['rotate-secret'])
  const keys = readSecretKeys(keyFile())
  expect({ code, out }).toEqual({ code: 0, out: '' })
  expect(keys).toHaveLength(1)
  expect(keys[0]).not.toBe(old)
  expect(err).toBe('secret.key holds a new key; 0 stored secrets moved to it\n')
})

const KEY = Buffer.alloc(32, 1).toString('base64')
test.each([
  [['rotate-secret', 'now'], {}, 2, 'takes nothing but --data-dir'],
  [['rotate-secret', '--project', 'acme/docs'], {}, 2, 'takes nothing but --data-dir'],
  [['rotate'], {}, 2, 'create or rotate-secret'],
  [[], {}, 2, 'create or rotate-secret'],
  [['create'], {}, 2, 'name the key'],
  [['create', 'a', 'b'], {}, 2, 'name the key'],
  [['create', 'ci', '--project', 'docs'], {}, 2, '"docs" is no project'],
  [['create', 'ci', '--project', 'acme/docs'], {}, 1, 'acme/docs: make it in the admin, or publish to it'],
  [['rotate-secret'], { SECRET_KEY: KEY }, 1, 'SECRET_KEY gives the key'],
  [['rotate-secret'], { SECRET_KEY: 'short' }, 78, 'SECRET_KEY'],
])('svc key %p with %p ends with %d', async (args, env, code, text) => {
  makeDatabase()
  const before = readFileSync(keyFile(), 'utf8')
  const answer = await svc(args, env)
  expect(answer.code).toBe(code)
  expect(answer.err).toContain(text)
  expect(answer.err.includes('usage: svc key create')).toBe(code === 2)
  expect(readFileSync(keyFile(), 'utf8')).toBe(before)
})

test('rotate-secret beside a running server, or where nothing is, changes nothing: exit code 1', async () => {
  const empty = await svc(['rotate-secret'])
  expect(empty.code).toBe(1)
  expect(empty.err).toContain('there is no svc.db')
  expect(existsSync(keyFile())).toBe(false)
  makeDatabase()
  const before = readFileSync(keyFile(), 'utf8')
  const lock = lockDataDir(folder)
  const running = await svc(['rotate-secret'])
  lock?.release()
  expect(running.code).toBe(1)
  expect(running.err).toContain('stop it first')
  expect(readFileSync(keyFile(), 'utf8')).toBe(before)
})
