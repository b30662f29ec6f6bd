import { expect, test } from 'bun:test'
import { autoPreviewName, isPreviewName } from '../../../scripts/actions/upload/lib/preview-name.mjs'
import { isAliasName, isCommitSha } from '../../domain/names.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'

/** contract 16 §2: lower case, runs outside `a-z0-9` one `-`, trimmed, at most 40; `b-` in front of one shaped like a SHA. */
const LETTERS = [
  'a',
  'F',
  '0',
  '9',
  'z',
  '-',
  '_',
  '/',
  '.',
  ' ',
  '\n',
  'é',
  'İ',
  'K',
  '日',
  '😀',
  '-->',
  '::',
]

test('whatever a branch is called, auto is a name that the server takes, or none', () => {
  const random = seededRandom(seedOf('preview names'))
  const next = (below: number) => Math.floor(random() * below)
  for (let round = 0; round < rounds(3_000, 300_000); round++) {
    const letters = next(3) === 0 ? ['a', 'F', '0', '9'] : LETTERS
    const branch = Array.from({ length: next(60) }, () => letters[next(letters.length)]).join('')
    const name = autoPreviewName({ pullRequest: undefined, branch })
    if (name === undefined) {
      expect(branch.toLowerCase()).not.toMatch(/[a-z0-9]/)
      continue
    }
    expect(name).toMatch(/^(?=.{1,42}$)[a-z0-9]+(-[a-z0-9]+)*$/)
    expect(isPreviewName(name) && isAliasName(name) && !isCommitSha(name)).toBe(true)
    const slug = name.startsWith('b-') && isCommitSha(name.slice(2)) ? name.slice(2) : name
    expect(slug.length).toBeLessThanOrEqual(40)
    expect(autoPreviewName({ pullRequest: 7, branch })).toBe('pr-7')
  }
})
