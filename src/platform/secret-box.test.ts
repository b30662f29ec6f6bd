import { expect, test } from 'bun:test'
import { createSecretBox } from './secret-box.ts'

const OLD = Buffer.alloc(32, 1).toString('base64')
const NEW = Buffer.alloc(32, 2).toString('base64')

test('a sealed text opens only with its own context', () => {
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

test('an altered text is rejected', () => {
  const box = createSecretBox([OLD])
  const [version, id, payload = ''] = box.seal('abc', 'x').split('.')
  const bytes = Buffer.from(payload, 'base64url')
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  expect(() => box.open(`${version}.${id}.${bytes.toString('base64url')}`, 'x')).toThrow()
})

test('the first key seals, every key opens, an unknown key is named in the error', () => {
  const sealed = createSecretBox([OLD]).seal('abc', 'x')
  const both = createSecretBox([NEW, OLD])
  expect(both.open(sealed, 'x')).toBe('abc')
  expect(both.seal('abc', 'x').split('.')[1]).toBe(both.keyId)
  expect(() => createSecretBox([NEW]).open(sealed, 'x')).toThrow('which this server does not have')
})
