import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { SignaturesSeen } from './signatures-seen.ts'

const MINUTE = 60_000

test('one that came is known for as long as it may be good, and not for ever', () => {
  let now = 0
  const seen = new SignaturesSeen({ clock: () => now })
  for (const startsAt of [0, 359_999, 700_000, 10_000_000]) {
    now = startsAt
    const signature = randomBytes(32)
    expect(seen.isFirst(signature)).toBe(true)
    for (const later of [0, 30_000, MINUTE - 1]) {
      now = startsAt + later
      expect(seen.isFirst(signature)).toBe(false)
    }
    now = startsAt + 2 * MINUTE
    expect(seen.isFirst(randomBytes(32))).toBe(true)
    now = startsAt + 4 * MINUTE
    expect(seen.isFirst(signature)).toBe(true)
  }
})

test('as many as there is room for are known, and no more take any', () => {
  const seen = new SignaturesSeen({ clock: () => 0, most: 100 })
  const all = Array.from({ length: 1_000 }, () => randomBytes(32))
  for (const [n, one] of all.entries()) {
    expect(seen.isFirst(one)).toBe(true)
    const before = all[Math.max(0, n - 99)] as Buffer
    expect(seen.isFirst(before)).toBe(false)
  }
  expect(seen.isFirst(all[0] as Buffer)).toBe(true)
})
