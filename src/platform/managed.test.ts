import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '../config/config.ts'
import { managedBy } from './managed.ts'

let folder = ''
let executable = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-managed-'))
  executable = join(folder, 'svc')
  writeFileSync(executable, '')
})
beforeEach(() => rmSync(join(folder, 'managed'), { recursive: true, force: true }))
afterAll(() => rmSync(folder, { recursive: true }))

test('nobody, where nothing says so', () => {
  expect(managedBy({}, executable)).toBeNull()
  expect(managedBy({ SVC_MANAGED: '' }, executable)).toBeNull()
  mkdirSync(join(folder, 'managed'))
  expect(managedBy({}, executable)).toBeNull()
})

test.each(['deb', 'docker', 'npm'] as const)('%s, by the variable or the file beside', (word) => {
  expect(managedBy({ SVC_MANAGED: word }, executable)).toBe(word)
  writeFileSync(join(folder, 'managed'), `${word}\n`)
  expect(managedBy({}, executable)).toBe(word)
})

test('the variable goes before the file, and links are resolved', () => {
  writeFileSync(join(folder, 'managed'), 'npm')
  expect(managedBy({ SVC_MANAGED: 'docker' }, executable)).toBe('docker')
  mkdirSync(join(folder, 'bin'))
  symlinkSync(executable, join(folder, 'bin/svc'))
  expect(managedBy({}, join(folder, 'bin/svc'))).toBe('npm')
})

test.each(['snap', 'npm deb', '', 'x'.repeat(1000)])('another word is a bad configuration: %p', (word) => {
  writeFileSync(join(folder, 'managed'), word)
  expect(() => managedBy({}, executable)).toThrow(ConfigError)
  if (word !== '') expect(() => managedBy({ SVC_MANAGED: word }, executable)).toThrow(ConfigError)
})
