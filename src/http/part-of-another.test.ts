import { expect, test } from 'bun:test'
import { isPartOfAnother } from './part-of-another.ts'

type Row = [site: string | null, mode: string | null, destination: string | null, isPart: boolean]

const rows: Row[] = [
  ['same-site', 'no-cors', 'script', true],
  ['cross-site', 'no-cors', 'image', true],
  ['same-site', 'no-cors', 'empty', true],
  ['same-site', 'navigate', 'object', true],
  ['cross-site', 'navigate', 'embed', true],
  ['same-site', 'navigate', 'iframe', false],
  ['cross-site', 'navigate', 'document', false],
  ['same-site', 'cors', 'empty', false],
  ['same-site', 'websocket', 'websocket', false],
  ['same-origin', 'no-cors', 'script', false],
  ['same-origin', 'navigate', 'object', false],
  ['none', 'navigate', 'document', false],
  [null, 'no-cors', 'script', false],
  [null, null, null, false],
]

test.each(rows)('from %p, mode %p, as %p: %p', (site, mode, destination, isPart) => {
  const headers = new Headers()
  for (const [name, value] of Object.entries({ site, mode, dest: destination }))
    if (value !== null) headers.set(`sec-fetch-${name}`, value)
  expect(isPartOfAnother(new Request('http://a.test/', { headers }))).toBe(isPart)
})
