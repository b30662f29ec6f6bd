import { expect, test } from 'bun:test'
import { chooseAlias, type TrafficFacts, type TrafficSplit } from './traffic.ts'

const split = (weights: Record<string, number>, more: Partial<TrafficSplit> = {}): TrafficSplit => ({
  weights: Object.entries(weights).map(([alias, weight]) => ({ alias, weight })),
  sticky: true,
  stickySeconds: 60,
  rules: [],
  ...more,
})
const nobody: TrafficFacts = { query: () => [], cookie: () => [], header: () => null }
const withCookie = (value: string): TrafficFacts => ({
  ...nobody,
  cookie: (key) => (key === '__svc_variant' ? [value] : []),
})
const everything = () => true
const never = () => {
  throw new Error('no draw is needed')
}

test('the draw follows the weights', () => {
  const counts: Record<string, number> = {}
  for (let i = 0; i < 1000; i++) {
    const choice = chooseAlias(split({ a: 90, b: 0, c: 10 }), nobody, everything, () => i / 1000)
    counts[choice?.alias ?? ''] = (counts[choice?.alias ?? ''] ?? 0) + 1
  }
  expect(counts).toEqual({ a: 900, c: 100 })
})

test('moving 5 % of the weight moves 5 % of the positions, and no returning visitor', () => {
  const at = (b: number, i: number, facts = nobody) =>
    chooseAlias(split({ a: 100 - b, b }), facts, everything, () => i / 1000)?.alias ?? ''
  const positions = Array.from({ length: 1000 }, (_, i) => i)
  expect(positions.filter((i) => at(10, i) !== at(15, i))).toHaveLength(50)
  expect(positions.filter((i) => at(15, i, withCookie(at(10, i))) !== at(10, i))).toHaveLength(0)
})

test('the cookie stays valid while its alias has a weight', () => {
  expect(chooseAlias(split({ a: 50, b: 50 }), withCookie('B'), everything, never)).toMatchObject({
    alias: 'b',
    by: 'cookie',
  })
  const half = () => 0.5
  expect(chooseAlias(split({ a: 100, b: 0 }), withCookie('b'), everything, half)).toMatchObject({
    alias: 'a',
    by: 'draw',
  })
  expect(chooseAlias(split({ a: 100 }), withCookie('other'), everything, half)).toMatchObject({
    alias: 'a',
    by: 'draw',
  })
  expect(chooseAlias(split({ a: 100, b: 0 }, { sticky: false }), withCookie('b'), everything, half)?.by).toBe(
    'draw',
  )
})

test('rules come first, in their order', () => {
  const rules = [
    { type: 'query', key: 'v', value: '1', alias: 'q' },
    { type: 'header', key: 'x-beta', value: 'yes', alias: 'h' },
    { type: 'cookie', key: 'beta', value: 'on', alias: 'c' },
  ] as const
  const of = (facts: Partial<TrafficFacts>) =>
    chooseAlias(split({ a: 100 }, { rules }), { ...nobody, ...facts }, everything, () => 0)?.alias
  expect(of({})).toBe('a')
  expect(of({ query: (key) => (key === 'v' ? ['0', '1'] : []) })).toBe('q')
  expect(of({ header: () => 'yes', cookie: () => ['on'] })).toBe('h')
  expect(of({ cookie: (key) => (key === 'beta' ? ['on'] : ['a']) })).toBe('c')
})

test('the share of a deleted alias goes to the others', () => {
  const isThere = (alias: string) => alias !== 'b'
  expect(chooseAlias(split({ a: 10, b: 90 }), withCookie('b'), isThere, () => 0.99)).toMatchObject({
    alias: 'a',
  })
  expect(
    chooseAlias(
      split({ a: 10, b: 90 }),
      nobody,
      () => false,
      () => 0,
    ),
  ).toBeNull()
})
