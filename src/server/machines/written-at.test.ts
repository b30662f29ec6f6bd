import { expect, test } from 'bun:test'
import { rounds } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { writtenAt, writtenAtCookie } from './written-at.ts'

test('the cookie', () => {
  const at = { epoch: 3, number: 17 }
  expect(writtenAtCookie(at, false)).toBe('svc-at=3.17; Path=/; Max-Age=60; HttpOnly; SameSite=Lax')
  expect(writtenAtCookie(at, true)).toEndWith('; SameSite=Lax; Secure')
})

test.each([
  [null, null],
  ['', null],
  ['svc-at=3.17', { epoch: 3, number: 17 }],
  ['a=b; svc-at=3.17;c=d', { epoch: 3, number: 17 }],
  // A sibling site can add one.
  ['svc-at=3.17; svc-at=4.9; svc-at=x', { epoch: 3, number: 17 }],
  ['xsvc-at=3.17', null],
  ['svc-at =3.17', null],
  ['svc-at', null],
  ['svc-at=', null],
  ['svc-at=3', null],
  ['svc-at=3.', null],
  ['svc-at=3.17.1', null],
  ['svc-at="3.17"', null],
  ['svc-at=-3.17', null],
  ['svc-at=3.1e5', null],
  ['svc-at=0x3.17', null],
  ['svc-at=03.17', null],
  ['svc-at=0.0', null],
  ['svc-at=3.99999999999999999999', null],
  ['svc-at=٣.١٧', null],
])('%j is %j', (header, expected) => {
  expect(writtenAt(header)).toEqual(expected)
})

test('whatever is sent is a pair of whole numbers or nothing, quickly', () => {
  const random = seededRandom(6)
  const at = (length: number) => Math.floor(random() * length)
  const pieces = ['svc-at', '=', '.', ';', ' ', '0', '9', '17', 'NaN', 'Infinity', '\u00e9', '%', ',', '-']
  for (let n = 0; n < rounds(20_000, 1_000_000); n++) {
    const header = Array.from({ length: at(20) }, () => pieces[at(pieces.length)]).join('')
    const found = writtenAt(header)
    if (found === null) continue
    for (const number of [found.epoch, found.number])
      expect(Number.isSafeInteger(number) && number > 0).toBe(true)
  }
  expect(writtenAt('svc-at=3.17;'.repeat(5_000))).toEqual({ epoch: 3, number: 17 })
  expect(writtenAt(`svc-at=${'9'.repeat(1_000_000)}.1`)).toBeNull()
})
