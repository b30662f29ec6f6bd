import { expect, test } from 'bun:test'
import { AcmeError, problemError } from '../../platform/acme/error.ts'
import { OutboundError } from '../../platform/outbound/error.ts'
import { emptyRecord } from './host-record.ts'
import { NewHostLimit } from './new-host-limit.ts'
import {
  authorityPauseMs,
  blockMs,
  dueAt,
  isAuthorityAtFault,
  manualDelayMs,
  reasonOf,
  renewAt,
  restOfRenewed,
  restUntil,
  retryDelayMs,
} from './timing.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const delays: [failures: number, leftMs: number, isElsewhere: boolean, expected: number][] = [
  [1, 0, false, 5 * MINUTE],
  [2, 0, false, 10 * MINUTE],
  [5, 0, false, 80 * MINUTE],
  [20, 0, false, DAY],
  [1000, 0, false, DAY],
  [1000, 0, true, HOUR],
  [1000, 30 * DAY, false, DAY],
  [1000, 40 * MINUTE, false, 10 * MINUTE],
  [1000, MINUTE, false, 5 * MINUTE],
  [3, -DAY, false, 20 * MINUTE],
]
test.each(delays)(
  'after %p failures, %p ms before the end (elsewhere %p): %p ms',
  (failures, leftMs, isElsewhere, expected) => {
    const delay = (random: number) => retryDelayMs({ failures, leftMs, isElsewhere, random })
    expect([delay(0), delay(0.5), delay(1)].map(Math.round)).toEqual([
      expected * 0.8,
      expected,
      expected * 1.2,
    ])
  },
)

test('people wait 20 seconds, then 4, 9 and 15 minutes; all hosts 1 minute to an hour', () => {
  expect([0, 1, 2, 3, 4, 99].map((n) => manualDelayMs(n) / MINUTE)).toEqual([0, 1 / 3, 4, 9, 15, 15])
  expect([1, 2, 6, 7, 99].map((n) => authorityPauseMs(n) / MINUTE)).toEqual([1, 2, 32, 60, 60])
})

test('a certificate is due with a third of its time left, or at once if another authority made it', () => {
  const certificate = { certPem: '', keyPem: '', notBefore: 0, expiresAt: 90, directory: 'a' }
  expect(renewAt(certificate)).toBe(60)
  const record = { ...emptyRecord('a.example'), certificate }
  expect([dueAt(record, 'a'), dueAt(record, 'b')]).toEqual([60, 0])
  expect([dueAt({ ...record, nextTryAt: 70 }, 'a'), dueAt({ ...record, nextTryAt: 5 }, 'b')]).toEqual([70, 5])
})

test.each([
  ['a moment of the authority', 20, 20],
  ['one that is past', -5, -5],
  ['one after the certificate has ended', 90, 60],
  ['none', null, 60],
] as const)('%s decides when it is due', (_what, at, due) => {
  const certificate = { certPem: '', keyPem: '', notBefore: 0, expiresAt: 90, directory: 'a' }
  const record = { ...emptyRecord('a.example'), certificate, nextTryAt: -10, renewal: { at, askAt: 0 } }
  expect(dueAt(record, 'a')).toBe(due)
  expect([dueAt({ ...record, nextTryAt: 70 }, 'a'), dueAt(record, 'b')]).toEqual([70, -10])
})

test('what replaced a certificate of less than a day rests for a day, or two thirds of its life', () => {
  const now = 1000 * DAY
  const lasting = (from: number, ms: number, directory = 'a') => ({
    notBefore: from,
    expiresAt: from + ms,
    directory,
  })
  const rest = (ageMs: number, ms = 90 * DAY, directory = 'a') =>
    restOfRenewed(lasting(now - ageMs, 90 * DAY, directory), lasting(now, ms), now) - now
  expect([rest(HOUR), rest(DAY - 1), rest(HOUR, 6 * HOUR)]).toEqual([DAY, DAY, 4 * HOUR])
  expect([rest(DAY), rest(HOUR, 90 * DAY, 'b')]).toEqual([-now, -now])
  expect(restOfRenewed(null, lasting(now, 90 * DAY), now)).toBe(0)
})

test('a new certificate is renewed at its normal time, or after two thirds of the time left', () => {
  const now = 1000 * DAY
  const rest = (agoMs: number, leftMs: number) =>
    restUntil({ notBefore: now - agoMs, expiresAt: now + leftMs }, now)
  expect([rest(0, 90 * DAY), rest(HOUR, 6 * DAY), rest(0, 5 * MINUTE)]).toEqual([0, 0, 0])
  expect(rest(72 * DAY, 18 * DAY)).toBe(now + 12 * DAY)
  expect([rest(MINUTE, 1000), rest(0, 1000), rest(0, 90_000)]).toEqual(Array(3).fill(now + MINUTE))
})

const waits: [name: string, error: unknown, expected: number][] = [
  ['too many, with a time', new AcmeError('x', { type: 'rateLimited', retryAfterMs: 5000 }), 5000],
  ['too many, without', new AcmeError('x', { type: 'rateLimited', retryAfterMs: null }), HOUR],
  ['another problem', new AcmeError('x', { type: 'dns', retryAfterMs: null }), 0],
  ['years', new AcmeError('x', { status: 503, retryAfterMs: 1e12 }), 7 * DAY],
  ['no answer', new OutboundError('dns', 'x'), 0],
]
test.each(waits)('%s blocks for the right time', (_name, error, expected) => {
  expect(blockMs(error)).toBe(expected)
})

test('who is at fault, and the message', () => {
  const timeout = new DOMException('late', 'TimeoutError')
  const elsewhere = [
    new OutboundError('refused', 'x'),
    timeout,
    new AcmeError('x', { status: 500 }),
    new AcmeError('x', { type: 'rateLimited' }),
  ]
  expect(elsewhere.map(isAuthorityAtFault)).toEqual([true, true, true, true])
  expect([new AcmeError('x', { type: 'dns', status: 400 }), new Error('x')].map(isAuthorityAtFault)).toEqual([
    false,
    false,
  ])
  expect(reasonOf(timeout)).toBe('The order took too long and was given up')
  expect(reasonOf(new Error('/secret/path'))).not.toContain('secret')
})

test('a problem is reported with its subproblems, and also without any', () => {
  const about = { status: 400, retryAfterMs: null }
  const problem = {
    type: 'urn:ietf:params:acme:error:compound',
    detail: 'Some are wrong.',
    subproblems: [{ detail: 'One\u202e is.' }, 7, { detail: '' }],
  }
  expect(problemError(problem, about)).toMatchObject({ type: 'compound', message: 'Some are wrong. One is.' })
  for (const nothing of [undefined, null, 'x', [], {}, { detail: 5 }])
    expect(problemError(nothing, about).message).toBe(
      'The certificate authority answered 400 without giving a reason',
    )
})

test('new hosts: 30 per hour; aliases 6 per hour and 30 per week, half of that without a visit', () => {
  const limit = new NewHostLimit([])
  for (let i = 0; i < 30; i++) limit.note({ at: 0, isAlias: false, projectId: null })
  expect([limit.mayAsk(HOUR - 1, null), limit.mayAsk(HOUR, null)]).toEqual([false, true])

  const visited = (at: number) => limit.mayAskForAlias(at, { isVisited: true })
  const unasked = (at: number) => limit.mayAskForAlias(at, { isVisited: false })
  for (let hour = 0; hour < 5; hour++) {
    for (let i = 0; i < 6; i++) {
      const at = hour * HOUR
      expect([visited(at), unasked(at)]).toEqual([true, i < 3 && hour * 6 + i < 15])
      limit.note({ at, isAlias: true, projectId: null })
    }
    expect(visited(hour * HOUR)).toBe(false)
  }
  expect([visited(DAY), visited(7 * DAY - 1), visited(7 * DAY)]).toEqual([false, false, true])
})
