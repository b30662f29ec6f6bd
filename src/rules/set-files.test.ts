import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSetFiles } from './set-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-set-'))
  mkdirSync(join(folder, 'set/rules'), { recursive: true })
  mkdirSync(join(folder, 'set-aside'))
  writeFileSync(join(folder, 'set/rules/a.js'), 'inside')
  writeFileSync(join(folder, 'key'), 'outside')
  writeFileSync(join(folder, 'set-aside/key'), 'beside')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a link inside the set is followed, one that points outside is not', () => {
  symlinkSync('a.js', join(folder, 'set/rules/b.js'))
  symlinkSync(join(folder, 'key'), join(folder, 'set/rules/c.js'))
  symlinkSync('../../set-aside/key', join(folder, 'set/rules/d.js'))
  const files = openSetFiles(join(folder, 'set'), 'set')
  const read = (name: string) => files?.read(`rules/${name}.js`)
  expect([read('a'), read('b')]).toEqual([{ text: 'inside' }, { text: 'inside' }])
  const out = { problem: 'is a link that points outside the rule set' }
  expect([read('c'), read('d')]).toEqual([out, out])
})

test('a file that cannot be read is reported', () => {
  writeFileSync(join(folder, 'set/rules/bytes.js'), Buffer.from([0xc3, 0x28]))
  writeFileSync(join(folder, 'set/rules/long.js'), 'x'.repeat(1024 * 1024 + 1))
  const files = openSetFiles(join(folder, 'set'), 'set/')
  expect(files?.shown).toBe('set')
  expect(files?.read('rules/bytes.js')).toEqual({ problem: 'is not UTF-8' })
  expect(files?.read('rules/long.js')).toMatchObject({ problem: expect.stringContaining('1 MiB') })
  expect(files?.read('rules/none.js')).toMatchObject({ problem: expect.stringContaining('cannot be read') })
  expect(openSetFiles(join(folder, 'nothing'), 'nothing')).toBeUndefined()
})

test('a pipe in a rule set is reported and does not block', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-set-'))
  try {
    Bun.spawnSync(['mkfifo', join(folder, 'get.rule.yaml')])
    expect(openSetFiles(folder, 'set')?.read('get.rule.yaml')).toEqual({
      problem: 'is neither a file nor a folder',
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
