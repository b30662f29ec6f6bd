import { describe, expect, test } from 'bun:test'
import { isQuickPattern } from './safe-pattern.ts'

describe('isQuickPattern', () => {
  const quick: [pattern: string, length: number][] = [
    ['[A-Z]{2}\\d{4}', 200],
    ['\\+?[0-9 ]{5,20}', 100],
    ['[a-z]+@[a-z]+', 90],
    ['\\d{1,3}\\.\\d{1,3}', 60],
    ['(?:yes|no|maybe)', 20_000],
  ]
  test.each(quick)('%s on %d characters is matched directly', (pattern, length) => {
    expect(isQuickPattern(pattern, length)).toBe(true)
  })

  const slow: [pattern: string, length: number][] = [
    ['(a+)+b', 10],
    ['(a|a)*b', 10],
    ['.*.*.*b', 100],
    ['(a?){20}b', 60],
    [`${'a{1,4}'.repeat(12)}b`, 60],
    [`${'a{0,4}'.repeat(12)}b`, 60],
    [`${'a{0,99999999999}'.repeat(8)}b`, 60],
    [`${'a{10,}'.repeat(8)}b`, 60],
    ['(?=a*b)a', 60],
    ['(a*)b\\1', 60],
  ]
  test.each(slow)('%s on %d characters goes to the sandbox', (pattern, length) => {
    expect(isQuickPattern(pattern, length)).toBe(false)
  })
})
