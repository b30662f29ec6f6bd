import { expect, test } from 'bun:test'
import { base32 } from 'oslo/encoding'
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts'
import { asTotpCode, matchingStep, newTotpSecret, otpauthUrl, totpCodeAt } from './totp.ts'

/** RFC 6238 appendix B, SHA-1, the last six of its eight digits. */
const SECRET = base32.encode(new TextEncoder().encode('12345678901234567890'), { includePadding: false })
const vectors: [seconds: number, code: string][] = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
]

test.each(vectors)('RFC 6238: at %d the code is %s', async (seconds, code) => {
  expect(await totpCodeAt(SECRET, seconds * 1000)).toBe(code)
  expect(await matchingStep(SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30))
})

const drifts: [drift: number, isGood: boolean][] = [
  [-2, false],
  [-1, true],
  [0, true],
  [1, true],
  [2, false],
]

test.each(drifts)('a code of %d steps from now: %p', async (drift, isGood) => {
  const now = 1_700_000_000_000
  const step = Math.floor(now / 30_000) + drift
  const code = await totpCodeAt(SECRET, now + drift * 30_000)
  expect(await matchingStep(SECRET, code, now)).toBe(isGood ? step : null)
})

const typed: [text: string, code: string | null][] = [
  ['123456', '123456'],
  [' 123 456 ', '123456'],
  ['12345', null],
  ['1234567', null],
  ['abcdef', null],
  ['１２３４５６', null],
  ['', null],
]

test.each(typed)('%p as a code: %p', (text, code) => {
  expect(asTotpCode(text)).toBe(code)
})

test('a secret is 160 random bits, and the URL for the app contains it', () => {
  const secret = newTotpSecret()
  expect(base32.decode(secret, { strict: false })).toHaveLength(20)
  expect(secret).not.toBe(newTotpSecret())
  const url = new URL(otpauthUrl('svc example.com', 'ann@example.com', secret))
  expect(url.protocol).toBe('otpauth:')
  expect(decodeURIComponent(url.pathname)).toEndWith('svc example.com:ann@example.com')
  expect(url.searchParams.get('secret')).toBe(secret)
  // Encoded like this because apps do not read a plus as a space.
  expect(url.search).toContain('issuer=svc%20example.com')
  expect(otpauthUrl('a+b', 'ann+1@example.com', secret)).toContain('/a%2Bb:ann%2B1%40example.com?')
})

test('recovery codes: ten different ones, accepted as people type them', () => {
  const codes = newRecoveryCodes()
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
  expect(hashRecoveryCode(' OOOO llll-bbbb aaaa')).toBe(hashRecoveryCode('0ooo-11ll-88bb-aaaa'))
  expect(hashRecoveryCode('aaaa-aaaa-aaaa-aaaa')).not.toBe(hashRecoveryCode('aaaa-aaaa-aaaa-aaab'))
})
