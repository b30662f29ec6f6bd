import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileSet } from './compile.ts'
import { formatProblem } from './problems.ts'
import { filesOf } from './set-files.ts'

/**
 * Each file holds a rule set (`--- path`, then the text) and behind `===` what comes of it: the push, or all errors as
 * they are shown.
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
  test('are many', () => {
    expect(names.length).toBeGreaterThanOrEqual(40)
  })

  test.each(names)('%s', async (name) => {
    const { files, expected } = read(name)
    const { push, problems } = await compileSet(filesOf('demo', files))
    const shown =
      push === null ? `${problems.map(formatProblem).join('\n')}\n` : `${JSON.stringify(push, null, 2)}\n`
    expect(shown).toBe(expected)
  })
})
