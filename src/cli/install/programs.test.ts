import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { CommandFailure } from '../command.ts'
import { programsOf, requireRan } from './programs.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-programs-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const program = (name: string, text: string) =>
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })

test('what a program says, and how it ends', async () => {
  program('one', 'echo "said $*"; echo why >&2; exit 3')
  const ran = await programsOf({ PATH: folder })('one', 'a b', '$c')
  expect(ran).toEqual({ exitCode: 3, text: 'said a b $c\n', errors: 'why\n' })
  expect(() => requireRan('one', ran)).toThrow(new CommandFailure('one ended with 3: why'))
  expect(() => requireRan('one', ran, [3])).not.toThrow()
})

test('none of the name', async () => {
  const ran = await programsOf({})('svc-no-such-program')
  expect(ran).toBeUndefined()
  expect(() => requireRan('it', ran)).toThrow('there is no such program')
})

test('a program that leaves another one running is not waited for', async () => {
  program('leaves', 'sleep 600 & echo $!')
  const ran = await programsOf({ PATH: folder })('leaves')
  const pid = Number(ran?.text)
  expect(process.kill(pid, 'SIGKILL')).toBe(true)
})

test('a relative entry of the PATH, which leads elsewhere from each folder, is not searched', async () => {
  program('svc-only-here', 'echo ran')
  expect((await programsOf({ PATH: folder })('svc-only-here'))?.text).toBe('ran\n')
  const PATH = `:${relative(process.cwd(), folder)}:.`
  expect(await programsOf({ PATH })('svc-only-here')).toBeUndefined()
})
