import { expect, test } from 'bun:test'
import { coversHost } from './certificates.ts'

const rows: [names: string[], host: string, isCovered: boolean][] = [
  [['a.example'], 'a.example', true],
  [['a.example'], 'b.a.example', false],
  [['*.example.com'], 'a.example.com', true],
  [['*.example.com'], 'a.b.example.com', false],
  [['*.example.com'], 'example.com', false],
  [['*.localhost'], 'localhost', false],
  [['x.example', '*.y.example'], 'z.y.example', true],
  [[], 'a.example', false],
]

test.each(rows)('%p covers %s: %p', (names, host, isCovered) => {
  expect(coversHost(names, host)).toBe(isCovered)
})
