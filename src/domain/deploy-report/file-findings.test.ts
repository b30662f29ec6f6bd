import { expect, test } from 'bun:test'
import { findInNames } from './file-findings.ts'
import { FindingList } from './finding-list.ts'
import type { Finding } from './findings.ts'
import { findLeftOut } from './left-out.ts'
import { findSecret } from './secrets.ts'

/** What names and the first bytes of files tell. contract 13 §7. */
const EXAMPLES: [paths: string[], folder: string, found: string[]][] = [
  [['index.html'], '', []],
  [['a.html', 'b/index.html', 'c/x'], '', ['start-page-missing index.html null']],
  [['a.html', 'dist/index.html'], '', ['nested-folder dist /dist/']],
  [['dist/index.html'], '', ['nested-folder dist /dist/']],
  [['dist/index.html'], '/dist', []],
  [['dist/x'], '/dist', ['start-page-missing dist/index.html null']],
  [['index.html', '_redirects', 'a/_headers'], '', ['routing-file-elsewhere a/_headers null']],
  [['_redirects', 'dist/_redirects', 'dist/index.html'], '/dist', ['routing-file-elsewhere _redirects null']],
  [['index.html', 'A.png', 'a.png'], '', ['case-collision a.png /A.png']],
  [['index.html', 'a.html', 'a/index.html'], '', ['address-clash a.html /a/index.html']],
]
test.each(EXAMPLES)('%j served from "%s"', (paths, folder, expected) => {
  const found = [...findInNames({ paths, folder })].map(
    ({ kind, file, target }) => `${kind} ${file} ${target}`,
  )
  expect(found).toEqual(expected)
})

const SECRETS = [
  '.env',
  '.env.local',
  'a/.npmrc',
  '.netrc',
  '.git',
  '.git/config',
  '.gitignore',
  '.ssh/x',
  '.aws/x',
]
test.each([...SECRETS, '.htpasswd'])('%s was left out, and tells secrets', (path) => {
  expect([...findLeftOut({ paths: [path] })]).toMatchObject([{ kind: 'secret-left-out', file: path }])
})

test.each([
  '.DS_Store',
  '.environment',
  'node_modules/a/b.js',
  'node_modules/a/.npmrc',
  '__MACOSX/x',
  '.vscode/a',
  'a\n/.b',
])('%j was left out', (path) => {
  expect([...findLeftOut({ paths: [path] })]).toMatchObject([{ kind: 'left-out', file: path }])
})

const PUBLISHED: [file: string, head: string, isSecret: boolean][] = [
  ['id_rsa', '', true],
  ['a/id_ed25519', '', true],
  ['a/cert.p12', '', true],
  ['id_rsa.pub', '', false],
  ['a.txt', 'x\n-----BEGIN PRIVATE KEY-----\n', true],
  ['a.txt', '-----BEGIN RSA PRIVATE KEY-----', true],
  ['a.txt', '-----BEGIN PUBLIC KEY-----', false],
]
test.each(PUBLISHED)('%s with %j is a private key: %p', (file, head, isSecret) => {
  expect(findSecret(file, Buffer.from(head)) !== null).toBe(isSecret)
})

test('a hundred of each kind are kept, all are counted, the worst come first', () => {
  const list = new FindingList()
  const about = (kind: Finding['kind'], file: string): Finding => ({
    kind,
    file,
    line: null,
    target: null,
    message: 'x',
  })
  list.add(about('left-out', 'a'))
  for (let at = 0; at < 150; at += 1) list.add(about('link-missing', `${at}`))
  list.add(about('redirect-loop', 'b'))
  expect(list.counts).toEqual({ 'left-out': 1, 'link-missing': 150, 'redirect-loop': 1 })
  const files = list.kept.map(({ file }) => file)
  expect([files.length, files[0], files[1], files[100], files[101]]).toEqual([102, 'b', '0', '99', 'a'])
})
