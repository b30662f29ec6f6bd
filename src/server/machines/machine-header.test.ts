import { expect, test } from 'bun:test'
import { rounds } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import {
  type Forwarded,
  machineKeys,
  machinesNamed,
  readForwarded,
  readMachine,
  signForwarded,
  signMachine,
} from './machine-header.ts'

/** contract 18 §6: time, client address, scheme, host, and a HMAC over them, method and target; 30 s valid. */

const KEYS = machineKeys('n'.repeat(32))
const ID = '0123456789abcdef'
const SAID: Forwarded = {
  address: '2001:db8::1',
  isSecure: true,
  hostHeader: 'Docs.example.com:8443',
  machines: [ID],
}
const ASKED = { at: 1_795_861_765_743, method: 'PUT', target: '/api/a%20b?c=d;e' }

test('what one machine says another reads', () => {
  expect(readForwarded(KEYS, signForwarded(KEYS, SAID, ASKED), ASKED)).toEqual(SAID)
  const odd = { ...SAID, hostHeader: 'a;b\u00e9 %;', address: '', isSecure: false, machines: [] }
  expect(readForwarded(KEYS, signForwarded(KEYS, odd, ASKED), ASKED)).toEqual(odd)
  expect(readMachine(KEYS, signMachine(KEYS, 'two; 2', ASKED), ASKED)).toEqual({ name: 'two; 2' })
})

test.each([
  [30_000, true],
  [30_001, false],
  [-30_000, true],
  [-30_001, false],
])('after %d ms it is good: %p', (ms, isGood) => {
  const value = signForwarded(KEYS, SAID, ASKED)
  expect(readForwarded(KEYS, value, { ...ASKED, at: ASKED.at + ms }) !== null).toBe(isGood)
})

test.each([
  ['another method', { ...ASKED, method: 'POST' }],
  ['another path', { ...ASKED, target: '/api/b' }],
  ['another query', { ...ASKED, target: `${ASKED.target}&x` }],
])('it is good for one request alone: %s', (_what, request) => {
  expect(readForwarded(KEYS, signForwarded(KEYS, SAID, ASKED), request)).toBeNull()
})

test('another secret, and what machines say of themselves, is something else', () => {
  const other = machineKeys('m'.repeat(32))
  expect(readForwarded(other, signForwarded(KEYS, SAID, ASKED), ASKED)).toBeNull()
  // A visitor can have a machine sign any request as theirs.
  expect(readMachine(KEYS, signForwarded(KEYS, SAID, ASKED), ASKED)).toBeNull()
  expect(readForwarded(KEYS, signMachine(KEYS, 'one', ASKED), ASKED)).toBeNull()
})

test('nothing that was changed is read, and nothing that is sent throws', () => {
  const random = seededRandom(18)
  const value = signForwarded(KEYS, SAID, ASKED)
  const at = (length: number) => Math.floor(random() * length)
  const bytes = () => String.fromCharCode(at(256))
  for (let n = 0; n < rounds(20_000, 1_000_000); n++) {
    const start = at(value.length)
    const forms = [
      value.slice(0, start) + bytes() + value.slice(start + 1),
      value.slice(0, start) + value.slice(start + 1 + at(8)),
      value.slice(0, start) + ['%', ';', ',', '', ' '][at(5)] + value.slice(start),
      Array.from({ length: at(60) }, bytes).join(''),
    ]
    const forged = forms[at(forms.length)] ?? ''
    machinesNamed(forged)
    if (forged === value) continue
    const read = readForwarded(KEYS, forged, ASKED)
    // Other spellings of the same signature are no other message.
    if (read !== null) expect(read).toEqual(SAID)
    expect(readMachine(KEYS, forged, ASKED)).toBeNull()
  }
  expect(readForwarded(KEYS, value.padEnd(1_000_000, 'A'), ASKED)).toBeNull()
})

test('the machines that a value names are known without its secret, and not more than eight', () => {
  const value = signForwarded(machineKeys('m'.repeat(32)), SAID, ASKED)
  expect(machinesNamed(value)).toEqual([ID])
  const many = signForwarded(KEYS, { ...SAID, machines: Array<string>(50).fill(ID) }, ASKED)
  expect(machinesNamed(many)).toHaveLength(8)
  for (const odd of ['', ';', ';;;;;;', 'x'.repeat(100_000)]) expect(machinesNamed(odd)).toEqual([])
})
