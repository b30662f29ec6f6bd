import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatProblem } from '../domain/file-problems.ts'
import { compileSet } from './compile.ts'
import { filesOf } from './set-files.ts'

/**
 * Each file holds a rule set (`--- path`, then the text) and, after `===`, the expected result: the push, or all errors
 * and warnings as they are displayed.
 */
const FOLDER = join(import.meta.dir, 'golden')
const names = readdirSync(FOLDER).sort()

function read(name: string): { files: Map<string, string>; expected: string } {
  const [input = '', expected = ''] = readFileSync(join(FOLDER, name), 'utf8').split(/^===\n/m)
  const files = new Map<string, string>()
  for (const part of input.split(/^--- /m).slice(1)) {
    const end = part.indexOf('\n')
    files.set(part.slice(0, end), part.slice(end + 1))
  }
  return { files, expected }
}

describe('golden rule sets', () => {
  test('there are many', () => {
    expect(names.length).toBeGreaterThanOrEqual(40)
  })

  test.each(names)('%s', async (name) => {
    const { files, expected } = read(name)
    const { push, problems, warnings } = await compileSet(filesOf('demo', files))
    const told = [...problems.map(formatProblem), ...warnings.map((one) => `warning: ${formatProblem(one)}`)]
    const made = push === null || warnings.length > 0 ? [] : [JSON.stringify(push, null, 2)]
    expect(`${[...told, ...made].join('\n')}\n`).toBe(expected)
    expect(push === null).toBe(problems.length > 0)
  })
})

test('the size limit of a whole set counts bytes, as the server does', async () => {
  const files = new Map([['ruleset.yaml', 'name: demo\n']])
  const letters = 'é'.repeat(500_000)
  for (let i = 0; i < 18; i++) {
    const config = JSON.stringify({ body: letters, contentType: 'text/plain' })
    const steps = `[{ id: answer, handler: response_handler, config: ${config} }]`
    files.set(`rules/a${i}/get.rule.yaml`, `pipeline:\n  steps: ${steps}\n`)
  }
  const { push, problems } = await compileSet(filesOf('demo', files))
  expect(push).toBeNull()
  expect(problems.map(formatProblem)).toEqual([
    'demo/ruleset.yaml:1:1 the whole set has more than 16777216 bytes (16 MiB)',
  ])
})
