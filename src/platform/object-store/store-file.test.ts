import { expect, test } from 'bun:test'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { StoreError } from '../object-store.ts'
import { parseStoreFile } from './store-file.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const good = { format: 'ltx', version: 1, id: '0190-a', createdAt: '2026-11-28T00:00:00.000Z' } as const
const textOf = (own: Record<string, unknown>) => JSON.stringify({ ...good, ...own })

test('what svc store init wrote is read, and what a later version adds is passed over', () => {
  expect(parseStoreFile(bytes(textOf({})))).toEqual(good)
  expect(parseStoreFile(bytes(textOf({ more: [1] })))).toEqual(good)
})

test.each([
  ['', 'no JSON'],
  ['<html>', 'no JSON'],
  ['null', 'no object'],
  ['[]', 'no object'],
  ['"svc"', 'no object'],
  ['{}', 'its version is missing'],
  [textOf({ version: 2 }), 'its version is 2, and this svc knows 1: run a newer svc'],
  [textOf({ version: '1' }), 'its version is "1"'],
  [textOf({ format: 'wal' }), 'its format is "wal"'],
  [textOf({ format: 'x'.repeat(10_000) }), 'its format is "xxx'],
  [textOf({ id: '' }), 'no id'],
  [textOf({ id: '../x' }), 'no id'],
  [textOf({ id: 'x'.repeat(65) }), 'no id'],
  [textOf({ id: 1 }), 'no id'],
  [textOf({ createdAt: 'yesterday, or so' }), 'when it was made'],
])('%p is refused with a reason', (text, why) => {
  expect(() => parseStoreFile(bytes(text))).toThrow(`"svc.json" in the object store cannot be read: `)
  expect(() => parseStoreFile(bytes(text))).toThrow(why)
})

test('a file with other bytes in it is read as it says, or refused', () => {
  const random = seededRandom(seedOf('svc.json'))
  const pick = (below: number) => Math.floor(random() * below)
  const file = bytes(textOf({}))
  for (let round = 0; round < rounds(5_000, 200_000); round += 1) {
    const spoiled = file.slice(0, pick(8) === 0 ? pick(file.length) : file.length)
    for (let left = 1 + pick(3); left > 0 && spoiled.length > 0; left -= 1)
      spoiled[pick(spoiled.length)] = pick(256)
    try {
      const { format, version, id } = parseStoreFile(spoiled)
      expect([format, version, /^[\w-]{1,64}$/.test(id)]).toEqual(['ltx', 1, true])
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
    }
  }
})
