import { expect, test } from 'bun:test'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { StoreError } from './error.ts'
import { parseListPage } from './list-page.ts'

const entry = (key: string, size = '1') => `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`
const END = '<IsTruncated>false</IsTruncated>'
const list = (inside: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="x">${inside}</ListBucketResult>`
const parse = (text: string, after = '') => parseListPage(new TextEncoder().encode(text), 'p/', after)

test('keys are read in both forms, with where the list goes on', () => {
  const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>'
  const page = parse(list(`<EncodingType>url</EncodingType>${entry('p/a%2Bb+c%20d')}${more}`))
  expect(page.entries.map(({ key }) => key)).toEqual(['p/a+b c d'])
  expect(page.next).toBe('a&b')
  expect(parse(list(entry('p/a+b&#x26;&#99;') + END)).entries.map(({ key }) => key)).toEqual(['p/a+b&c'])
  expect(parse(list(END))).toEqual({ entries: [], next: null })
})

test.each([
  ['HTML', '<html><body>Sign in</body></html>'],
  ['nothing', ''],
  ['a document cut off', list(entry('p/a')).slice(0, -5)],
  ['another document', '<Error><Code>SlowDown</Code></Error>'],
  ['an entity of its own', `<!DOCTYPE a [<!ENTITY b "c">]>${list(entry('p/&b;') + END)}`],
  ['an unknown entity', list(entry('p/&b;') + END)],
  ['a number that is no character', list(entry('p/&#x110000;') + END)],
  ['deep nesting', '<a>'.repeat(100_000)],
  ['a key outside the prefix', list(entry('q/a') + END)],
  ['keys out of order', list(entry('p/b') + entry('p/a') + END)],
  ['a key twice', list(entry('p/a') + entry('p/a') + END)],
  ['an entry without a size', list(entry('p/a', '') + END)],
  ['a negative size', list(entry('p/a', '-1') + END)],
  ['no word whether it goes on', list(entry('p/a'))],
  ['more without a token', list(`${entry('p/a')}<IsTruncated>true</IsTruncated>`)],
  [
    'more without a key',
    list('<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>'),
  ],
  ['bad percent forms', list(`<EncodingType>url</EncodingType>${entry('p/%zz')}${END}`)],
])('%s is no list', (_, text) => {
  expect(() => parse(text)).toThrow("the object store's list cannot be read")
})

test('a page that begins again is refused', () => {
  expect(() => parse(list(entry('p/a') + END), 'p/b')).toThrow('not in order')
})

test('a list with other bytes in it shows keys below the prefix and in order, or is refused', () => {
  const random = seededRandom(seedOf('lists'))
  const pick = (below: number) => Math.floor(random() * below)
  const page = new TextEncoder().encode(
    list(['p/a', 'p/b&#x26;', 'p/c'].map((key) => entry(key)).join('') + END),
  )
  for (let round = 0; round < rounds(5_000, 200_000); round += 1) {
    const spoiled = page.slice(0, pick(8) === 0 ? pick(page.length) : page.length)
    for (let left = 1 + pick(3); left > 0 && spoiled.length > 0; left -= 1)
      spoiled[pick(spoiled.length)] = pick(256)
    try {
      const keys = parseListPage(spoiled, 'p/', '').entries.map(({ key }) => key)
      expect(keys.every((key) => key.startsWith('p/'))).toBe(true)
      expect(keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))).toEqual(keys)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
    }
  }
})
