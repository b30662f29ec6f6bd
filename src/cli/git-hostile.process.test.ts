import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readGit, uncommittedChanges } from './git.ts'

let folder = ''
// Nothing of who runs the tests: a hook of git names its own repository in the environment.
const env = { PATH: process.env['PATH'] }
const git = (...args: string[]): string =>
  Bun.spawnSync(['git', '-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], { env })
    .stdout.toString()
    .trim()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-git-'))
  git('init', '--quiet')
  writeFileSync(join(folder, 'index.html'), 'hi')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'first')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A program that leaves a mark when it is run. */
function program(): { path: string; ran: () => boolean } {
  const path = join(folder, 'program.sh')
  const mark = join(folder, 'ran')
  writeFileSync(path, `#!/bin/sh\ntouch ${mark}\nexit 1\n`, { mode: 0o755 })
  return { path, ran: () => existsSync(mark) }
}

test('a commit that is missing is not fetched by the means that the checkout names', async () => {
  const { path, ran } = program()
  const sha = git('rev-parse', 'HEAD')
  for (const [name, value] of [
    ['core.repositoryFormatVersion', '1'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.url', `ext::${path} %S x`],
    ['protocol.ext.allow', 'always'],
  ] as const)
    git('config', name, value)
  rmSync(join(folder, '.git/objects', sha.slice(0, 2), sha.slice(2)))

  expect((await readGit(folder, env)).commitSha).toBeUndefined()
  expect(ran()).toBe(false)
})

test('no program that the configuration of a checkout names is run', async () => {
  const { path, ran } = program()
  for (const name of ['core.fsmonitor', 'core.pager', 'gpg.program', 'diff.external', 'core.sshCommand'])
    git('config', name, path)
  git('config', 'log.showSignature', 'true')

  expect((await readGit(folder, env)).subject).toBe('first')
  expect(ran()).toBe(false)
})

/** As after a copy: git cannot tell by its times and size that the file is as it was. */
const touch = (name: string): void => utimesSync(join(folder, name), 1, 1)

test('asked for what is not committed, git runs no filter and no other program', async () => {
  const { path, ran } = program()
  writeFileSync(join(folder, 'big.bin'), 'one')
  writeFileSync(join(folder, '.gitattributes'), '*.html filter=a=b\n*.bin filter=lfs\n')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'second')
  for (const name of ['core.fsmonitor', 'diff.external', 'filter.a=b.clean', 'filter.lfs.process'])
    git('config', name, path)
  for (const name of ['filter.a=b.required', 'filter.lfs.required']) git('config', name, 'true')
  for (const name of ['index.html', 'big.bin']) touch(name)

  expect(await uncommittedChanges(folder, env)).toEqual([])
  writeFileSync(join(folder, '.gitattributes'), '*.bin filter=lfs\n')
  expect(await uncommittedChanges(folder, env)).toEqual(['.gitattributes'])
  expect(ran()).toBe(false)
})

test('what is not committed is told for the whole checkout, of what git knows', async () => {
  mkdirSync(join(folder, 'dist'))
  for (const name of ['dist/a', 'dist/caf\u00e9', 'staged']) writeFileSync(join(folder, name), 'one')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'second')
  touch('index.html')
  expect(await uncommittedChanges(join(folder, 'dist'), env)).toEqual([])
  rmSync(join(folder, 'dist/a'))
  writeFileSync(join(folder, 'dist/caf\u00e9'), 'two')
  writeFileSync(join(folder, 'staged'), 'two')
  git('add', 'staged')
  writeFileSync(join(folder, 'unknown to git'), 'one')
  expect(await uncommittedChanges(join(folder, 'dist'), env)).toEqual(['dist/a', 'dist/caf\u00e9', 'staged'])
  expect(await uncommittedChanges(tmpdir(), env)).toEqual([])
})

test('a pipe in the place of .mailmap holds nothing up', async () => {
  Bun.spawnSync(['mkfifo', join(folder, '.mailmap')])

  expect((await readGit(folder, env)).subject).toBe('first')
})
