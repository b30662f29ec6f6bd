import { expect, test } from 'bun:test'
import { MAX_TYPED_PASSWORD, normalPassword, passwordFlaw, passwordForms } from './password-rule.ts'

const E_ACUTE = '\u00e9'
const SPLIT = 'e\u0301'
const CLEF = '\u{1d11e}'

/** contract 12.7: 8 to 256 code points of the NFC form. */
test.each<[what: string, password: string, flaw: RegExp | null]>([
  ['7 of ASCII', 'a'.repeat(7), /at least 8 characters/],
  ['8 of ASCII', 'a'.repeat(8), null],
  ['256 of ASCII', 'a'.repeat(256), null],
  ['257 of ASCII', 'a'.repeat(257), /at most 256 characters/],
  ['7 that are 14 in NFD', SPLIT.repeat(7), /at least 8 characters/],
  ['8 that are 16 in NFD', SPLIT.repeat(8), null],
  ['256 that are 512 in NFD', SPLIT.repeat(256), null],
  ['257 that are 514 in NFD', SPLIT.repeat(257), /at most 256 characters/],
  ['7 outside the BMP', CLEF.repeat(7), /at least 8 characters/],
  ['8 outside the BMP', CLEF.repeat(8), null],
  ['256 that are 8 units each in NFD', '\u{1d15e}'.repeat(128), null],
  ['256 that are 4 in NFD', '\u1f82'.repeat(256).normalize('NFD'), null],
  ['257 that are 4 in NFD', '\u1f82'.repeat(257).normalize('NFD'), /at most 256 characters/],
  ['megabytes', 'a'.repeat(2_000_000), /at most 256 characters/],
  ['nothing', '', /at least 8 characters/],
])('%s', (_what, password, flaw) => {
  const found = passwordFlaw(password)
  if (flaw === null) expect(found).toBeNull()
  else expect(found).toMatch(flaw)
})

test('no form of a good password is longer than what a form may hold', () => {
  const longest = '\u1f82'.repeat(256).normalize('NFD')
  expect(passwordFlaw(longest)).toBeNull()
  expect(longest.length).toBeLessThanOrEqual(MAX_TYPED_PASSWORD)
})

test('the forms to try: NFC, as sent, NFD, each once', () => {
  expect(passwordForms('correct horse')).toEqual(['correct horse'])
  expect(passwordForms('\u65e5\u672c')).toEqual(['\u65e5\u672c'])
  expect(passwordForms(E_ACUTE)).toEqual([E_ACUTE, SPLIT])
  expect(passwordForms(SPLIT)).toEqual([E_ACUTE, SPLIT])
  expect(passwordForms(`${E_ACUTE}${SPLIT}`)).toEqual([
    E_ACUTE.repeat(2),
    `${E_ACUTE}${SPLIT}`,
    SPLIT.repeat(2),
  ])
  expect(normalPassword(SPLIT)).toBe(E_ACUTE)
})
