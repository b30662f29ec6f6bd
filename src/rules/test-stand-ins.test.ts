import { expect, test } from 'bun:test'
import { standIns } from './test-stand-ins.ts'

const AT = 'https://api.example.com/v1'

test.each<[given: unknown, wrong: string | null]>([
  [{ [AT]: { json: { a: 1 } } }, null],
  [{ [AT]: { status: 503, headers: { 'retry-after': 5 }, body: '' } }, null],
  [{}, null],
  ['x', 'must be a map of https addresses to answers'],
  [{ 'http://api.example.com': {} }, 'is no https address'],
  [{ here: {} }, 'is no https address'],
  [{ [`${AT}?a=1`]: {} }, 'has a query'],
  [{ [AT]: 'text' }, 'is no map'],
  [{ [AT]: { text: 'x' } }, 'has the key text; allowed: status, headers, json, body'],
  [{ [AT]: { status: 99 } }, 'has no status'],
  [{ [AT]: { headers: { 'a b': 1 } } }, 'has the header a b'],
  [{ [AT]: { json: 1, body: 'x' } }, 'has json and body'],
  [{ [AT]: { body: 1 } }, 'has a body that is no text'],
])('%j', (given, wrong) => {
  const said = standIns(given)
  if (wrong === null) expect(said).toBeNull()
  else expect(said).toContain(wrong)
})
