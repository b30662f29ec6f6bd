import { expect, test } from 'bun:test'
import { addCondition, failingCondition, visitorFacts } from './conditions.ts'

const holds = (text: string, headers: Record<string, string>, roles: readonly string[] = []): boolean => {
  const conditions = addCondition({}, text)
  if (!conditions.ok) throw new Error(conditions.error)
  const hasRole = (wanted: readonly string[]) => wanted.some((role) => roles.includes(role))
  return failingCondition(conditions.value, visitorFacts(new Headers(headers), hasRole)) === null
}

const LANGUAGES: [condition: string, header: string | null, holds: boolean][] = [
  ['Language=de', 'de', true],
  ['Language=de', 'de-CH, fr', true],
  ['Language=DE', 'dE-ch', true],
  ['Language=de', 'den', false],
  ['Language=de-CH', 'de', false],
  ['Language=de,fr', 'fr;q=0.9, en;q=0.8', true],
  ['Language=de', 'en, de;q=0.9', false],
  ['Language=de', 'en;q=0.8, de;q=0.9', true],
  ['Language=de', 'de;q=0, en;q=0.1', false],
  ['Language=de', '*, de;q=0.5', true],
  ['Language=de', '', false],
  ['Language=de', null, false],
]
test.each(LANGUAGES)('%s with %p: %p', (condition, header, expected) =>
  expect(holds(condition, header === null ? {} : { 'accept-language': header })).toBe(expected),
)

const COOKIES: [condition: string, header: string, holds: boolean][] = [
  ['Cookie=a', 'a=1', true],
  ['Cookie=a', 'b=1; a=', true],
  ['Cookie=a,b', 'b=2', true],
  ['Cookie=a', 'A=1', false],
  ['Cookie=a', 'ab=1', false],
  ['Cookie=sAccessToken', 'sAccessToken=x', false],
  ['Cookie=__svc_variant', '__svc_variant=x', false],
]
test.each(COOKIES)('%s with %s: %p', (condition, cookie, expected) =>
  expect(holds(condition, { cookie })).toBe(expected),
)

test('a role holds when one of the visitor is listed', () => {
  expect(holds('Role=viewer,admin', {}, ['guest', 'viewer'])).toBe(true)
  expect(holds('Role=viewer', {}, ['guest'])).toBe(false)
})
