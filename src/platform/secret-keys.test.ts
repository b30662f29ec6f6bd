import { expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newSecretKey, readSecretKeys, replaceSecretKeys } from './secret-keys.ts'

test('the key file is created once, readable by its owner only', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-key-'))
  const path = join(folder, 'secret.key')
  const keys = readSecretKeys(path)
  expect(keys).toHaveLength(1)
  expect(readSecretKeys(path)).toEqual(keys)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  chmodSync(path, 0o644)
  expect(readSecretKeys(path)).toEqual(keys)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  writeFileSync(path, 'not a key\n')
  expect(() => readSecretKeys(path)).toThrow('32-byte keys')
  expect(readdirSync(folder)).toEqual(['secret.key'])
  rmSync(folder, { recursive: true })
})

test('new keys replace the old ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-key-'))
  const path = join(folder, 'secret.key')
  const [old = ''] = readSecretKeys(path)
  const fresh = newSecretKey()
  writeFileSync(`${path}.new`, 'left by a loss of power')
  replaceSecretKeys(path, [fresh, old])
  expect(readSecretKeys(path)).toEqual([fresh, old])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['secret.key'])
  rmSync(folder, { recursive: true })
})

test('processes that start at the same time get the same key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-key-'))
  const path = join(folder, 'secret.key')
  const program = join(import.meta.dir, 'secret-keys.child.ts')
  const started = Array.from({ length: 6 }, () =>
    Bun.spawn([process.execPath, program, path], { stdin: 'pipe', stdout: 'pipe' }),
  )
  const outputs = started.map(({ stdout }) => new Response(stdout).text())
  for (const { stdin } of started) {
    stdin.write('go\n')
    stdin.end()
  }
  const keys = (await Promise.all(outputs)).map((text) => text.split('\n')[1])
  expect(new Set(keys)).toEqual(new Set(readSecretKeys(path)))
  expect(readdirSync(folder)).toEqual(['secret.key'])
  rmSync(folder, { recursive: true })
})
