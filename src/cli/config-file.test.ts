import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from './command.ts'
import { findConfigFile } from './config-file.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-config-')))
})

afterEach(() => rmSync(root, { recursive: true }))

function write(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

test('the nearest file above the folder counts, whole', () => {
  write('.svc/config.json', '{ "project": "far/away" }')
  write('site/.svc/config.json', '{ "apiUrl": "https://a.example", "project": "a/b", "ruleSets": ["rules"] }')
  mkdirSync(join(root, 'site/dist/deep'), { recursive: true })
  expect(findConfigFile([join(root, 'site/dist/deep')])).toEqual({
    root: join(root, 'site'),
    apiUrl: 'https://a.example',
    project: 'a/b',
    ruleSets: ['rules'],
  })
})

test('the climb ends at the root of a repository; then the next folder is asked', () => {
  write('.svc/config.json', '{ "project": "outside/all" }')
  write('repo/.git/HEAD', '')
  write('here/.svc/config.json', '{ "project": "from/here" }')
  mkdirSync(join(root, 'repo/dist'))
  expect(findConfigFile([join(root, 'repo/dist')])).toEqual({ root: join(root, 'repo/dist') })
  expect(findConfigFile([join(root, 'repo/dist'), join(root, 'here')]).project).toBe('from/here')
})

test('a file planted in a shared folder does not decide where the key is sent', () => {
  write('shared/.svc/config.json', '{ "apiUrl": "https://thief.example" }')
  write('shared/mine/index.html', '')
  chmodSync(join(root, 'shared'), 0o1777)
  expect(findConfigFile([join(root, 'shared/mine')])).toEqual({ root: join(root, 'shared/mine') })
})

test.each([
  ['a key', '{ "apiKey": "svc_1" }', 'SVC_API_KEY'],
  ['a token', '{ "token": "svc_1" }', 'SVC_API_KEY'],
  ['a typo', '{ "apiURL": "https://a.example" }', '"apiURL" is unknown'],
  ['a number for text', '{ "project": 3 }', '"project" must be text'],
  ['text for a list', '{ "ruleSets": "rules" }', '"ruleSets" must be a list'],
  ['a list', '[]', 'must hold a JSON object'],
  ['no JSON', '{', 'config.json: '],
])('%s in it is refused', (_what, content, message) => {
  write('.svc/config.json', content)
  expect(() => findConfigFile([root])).toThrow(UsageError)
  expect(() => findConfigFile([root])).toThrow(message)
})

test('a byte order mark is no part of it', () => {
  write('.svc/config.json', '\ufeff{ "project": "a/b" }')
  expect(findConfigFile([root]).project).toBe('a/b')
})

test.each(['\ufeff', ''])('UTF-16 is refused by that name, also without a mark (%j)', (mark) => {
  write('.svc/config.json', '')
  writeFileSync(join(root, '.svc/config.json'), Buffer.from(`${mark}{ "project": "a/b" }`, 'utf16le'))
  expect(() => findConfigFile([root])).toThrow(UsageError)
  expect(() => findConfigFile([root])).toThrow('config.json is written in UTF-16; save it as UTF-8')
})
