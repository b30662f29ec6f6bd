import { expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecretBox, readSecretKeys } from './secret-box.ts'

const OLD = Buffer.alloc(32, 1).toString('base64')
const NEW = Buffer.alloc(32, 2).toString('base64')

test('what was sealed is opened, in its own place only', () => {
  const box = createSecretBox([OLD])
  const sealed = box.seal('s3cret €', 'rule:1')
  expect(sealed).not.toContain('s3cret')
  expect(box.open(sealed, 'rule:1')).toBe('s3cret €')
  expect(() => box.open(sealed, 'rule:2')).toThrow()
})

test('the same text is sealed differently each time', () => {
  const box = createSecretBox([OLD])
  expect(box.seal('a', 'x')).not.toBe(box.seal('a', 'x'))
})

test('an altered text is refused', () => {
  const box = createSecretBox([OLD])
  const [version, id, payload = ''] = box.seal('abc', 'x').split('.')
  const bytes = Buffer.from(payload, 'base64url')
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  expect(() => box.open(`${version}.${id}.${bytes.toString('base64url')}`, 'x')).toThrow()
})

test('the first key seals, every key opens, an unknown one is named', () => {
  const sealed = createSecretBox([OLD]).seal('abc', 'x')
  const both = createSecretBox([NEW, OLD])
  expect(both.open(sealed, 'x')).toBe('abc')
  expect(both.seal('abc', 'x').split('.')[1]).toBe(both.keyId)
  expect(() => createSecretBox([NEW]).open(sealed, 'x')).toThrow('which this server does not have')
})

test('the key file is made once, for its owner only', () => {
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
  rmSync(folder, { recursive: true })
})
