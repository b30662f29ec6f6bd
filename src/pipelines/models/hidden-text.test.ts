import { expect, test } from 'bun:test'
import { seededRandom } from '../../testing/seeded-random.ts'
import { HiddenText } from './hidden-text.ts'

const passed = (text: string, pieces: readonly string[]): string => {
  const hidden = new HiddenText(text)
  return pieces.map((piece) => hidden.pass(piece)).join('') + hidden.rest()
}

test.each<[text: string, pieces: string[], out: string]>([
  ['abcabcabd', ['x abcabcabcabd y'], 'x abc[redacted] y'],
  ['secret-key-1', ['secret-key-1secret-key-1'], '[redacted][redacted]'],
  ['secret-key-1', ['secret-k', 'ey-1'], '[redacted]'],
  ['secret-key-1', ['sec', 'ret-key-1 x'], 'sec[redacted] x'],
  ['secret-key-1', ['secret-key-', '2'], 'secret-key-2'],
  ['secret-key-1', ['secret-key-'], 'secret-key-'],
  ['ab', ['a', 'b', 'ab'], 'a[redacted][redacted]'],
])('%s in %p', (text, pieces, out) => {
  expect(passed(text, pieces)).toBe(out)
})

test('whatever the pieces, the text never comes through, and all else does', () => {
  const random = seededRandom(32)
  const below = (n: number) => Math.floor(random() * n)
  for (let round = 0; round < 2000; round++) {
    const text = [...Array.from({ length: 1 + below(12) }, () => 'xy'[below(2)]), 'z'].join('')
    let whole = Array.from({ length: below(60) }, () => (below(6) === 0 ? text : 'xyz'[below(3)])).join('')
    if (!whole.includes(text)) expect(passed(text, [...whole])).toBe(whole)
    const pieces: string[] = []
    for (; whole !== ''; whole = whole.slice(pieces.at(-1)?.length)) pieces.push(whole.slice(0, 1 + below(5)))
    expect(passed(text, pieces)).not.toContain(text)
  }
})
