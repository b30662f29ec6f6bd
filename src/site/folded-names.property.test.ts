import { expect, test } from 'bun:test'
import { foldedName } from '../domain/visitor-claims.ts'
import { rounds, seedOf } from '../testing/rounds.ts'
import { seededRandom } from '../testing/seeded-random.ts'

const LETTERS = "aZ09-_.~!#$%&'*+^`|"

test('a folded name agrees with its definition, whatever the name', () => {
  const random = seededRandom(seedOf('folded names'))
  const below = (limit: number) => Math.floor(random() * limit)
  for (let round = 0; round < rounds(2_000, 200_000); round++) {
    const name = Array.from({ length: 1 + below(12) }, () => LETTERS.charAt(below(LETTERS.length))).join('')
    const words = name.toLowerCase().split(/[^a-z0-9]/)
    expect([name, foldedName(name)]).toEqual([name, words.filter((word) => word !== '').join('-')])
  }
})
