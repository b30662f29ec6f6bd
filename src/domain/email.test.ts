import { expect, test } from 'bun:test'
import { emailParts, normalEmail } from './email.ts'

const NFC = 'ren\u00e9'
const NFD = 'rene\u0301'
const WIDE = '\uff42\u00fccher'

/** contract 12.7: trimmed, lower case, NFC, the domain as A-labels. */
test.each<[spelled: string, stored: string]>([
  ['ann@example.com', 'ann@example.com'],
  [' Ann@Example.COM\t', 'ann@example.com'],
  [`${NFC}@example.com`, `${NFC}@example.com`],
  [`${NFD}@example.com`, `${NFC}@example.com`],
  [`${NFD.toUpperCase()}@EXAMPLE.com`, `${NFC}@example.com`],
  ['ann@b\u00fccher.example', 'ann@xn--bcher-kva.example'],
  ['ann@bu\u0308cher.example', 'ann@xn--bcher-kva.example'],
  ['ann@B\u00dcCHER\u3002example', 'ann@xn--bcher-kva.example'],
  [`ann@${WIDE}.example`, 'ann@xn--bcher-kva.example'],
  ['ann@XN--BCHER-KVA.example', 'ann@xn--bcher-kva.example'],
  ['ann@b\u00fccher.example.', 'ann@xn--bcher-kva.example'],
  ['ann@fa\u00df.de', 'ann@xn--fa-hia.de'],
  ['ann@\u4f8b\u3048.jp', 'ann@xn--r8jz45g.jp'],
  ['\u30e6\u30fc\u30b6@\u4f8b\u3048.jp', '\u30e6\u30fc\u30b6@xn--r8jz45g.jp'],
  ['\u039d\u0399\u039a\u039f\u03a3@example.com', '\u03bd\u03b9\u03ba\u03bf\u03c2@example.com'],
  ['ann+lists@nas', 'ann+lists@nas'],
  ["o'neil@localhost", "o'neil@localhost"],
  ['root@127.0.0.1', 'root@127.0.0.1'],
])('%j is %s', (spelled, stored) => {
  expect(normalEmail(spelled)).toBe(stored)
  expect(normalEmail(stored)).toBe(stored)
})

test.each([
  '',
  'ann',
  '@example.com',
  'ann@',
  'ann@@example.com',
  'ann@a..b',
  'ann@.example.com',
  'ann@-example.com',
  'ann@example-.com',
  'ann@exa_mple.com',
  'ann@xn--zzzz',
  'ann@xn--.example',
  'ann@xn--a.example',
  `ann@${'a'.repeat(64)}.com`,
  `ann@${'b\u00fccher.'.repeat(30)}example`,
  'ann@ex%61mple.com',
  'ann@example.com/x',
  'ann@example.com?x',
  'ann@example.com#x',
  'ann@1.2.3',
  'ann@0x7f.0.0.1',
  'ann@\u2126\u200d.com',
  'ann@a\u200bb.com',
  'ann@\u0661\u0662.com',
  `${'a'.repeat(310)}@example.com`,
])('%j is no email', (text) => {
  expect(normalEmail(text)).toBeNull()
})

test('what is typed to find accounts is looked for in the form that is stored', () => {
  expect(emailParts(`Ann@B\u00fccher.example`)).toContain('ann@xn--bcher-kva.example')
  expect(emailParts('@B\u00fccher.example')).toContain('xn--bcher-kva.example')
  expect(emailParts(NFD.slice(1))).toContain(NFC.slice(1))
  expect(emailParts('ann smith')).toEqual(['ann smith'])
})
