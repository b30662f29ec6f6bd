import { expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { AcmeError } from '../../platform/acme/error.ts'
import { mayAskRenewal, renewalAfter, renewalUnknown } from './renewal.ts'

test('a moment stays while it lies in the window, else another is chosen', () => {
  const at = { now: 5, random: 0.25 }
  const info = { start: 100, end: 200, askAgainMs: 10 }
  expect(renewalAfter(null, info, at)).toEqual({ at: 125, askAt: 15 })
  expect(renewalAfter({ at: 180, askAt: 0 }, info, at)).toEqual({ at: 180, askAt: 15 })
  expect(renewalAfter({ at: 201, askAt: 0 }, info, at)).toEqual({ at: 125, askAt: 15 })
  expect(renewalAfter({ at: 180, askAt: 0 }, null, at)).toEqual({ at: null, askAt: 5 + DAY_MS })
})

test('without an answer the last one counts, and the authority says when to ask again', () => {
  const known = { at: 180, askAt: 0 }
  expect(renewalUnknown(known, new Error('x'), 0)).toEqual({ at: 180, askAt: 6 * HOUR_MS })
  const busy = new AcmeError('x', { status: 503, retryAfterMs: 90_000 })
  expect(renewalUnknown(null, busy, 0)).toEqual({ at: null, askAt: 90_000 })
})

test('a clock that was a year ahead delays no question for a year', () => {
  const at = (askAt: number) => mayAskRenewal({ at: null, askAt }, 0)
  expect([mayAskRenewal(null, 0), at(0), at(1), at(DAY_MS), at(365 * DAY_MS)]).toEqual([
    true,
    true,
    false,
    false,
    true,
  ])
})
