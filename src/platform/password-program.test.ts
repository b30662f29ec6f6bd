import { afterEach, expect, spyOn, test } from 'bun:test'
import { passwordForms } from '../domain/password-rule.ts'
import { CHEAP } from '../testing/cheap-passwords.ts'
import { work } from './password-program.ts'

const verifySync = spyOn(Bun.password, 'verifySync')
afterEach(() => void verifySync.mockClear())

const { costs, decoy } = CHEAP
const NFC = 'r\u00e9sum\u00e9 of ann'
const NFD = NFC.normalize('NFD')
const MIXED = `r\u00e9sume\u0301 of ann`

/** Each try takes as long as any other, so that their number is the time. */
test.each<[what: string, typed: string, tries: number]>([
  ['ASCII', 'correct horse battery', 1],
  ['letters without another form', '\u65e5\u672c\u8a9e\u65e5\u672c\u8a9e\u65e5\u672c', 1],
  ['NFC', NFC, 2],
  ['NFD', NFD, 2],
  ['neither', MIXED, 3],
])('%s: known or not, right or wrong, each costs the same tries', (_what, typed, tries) => {
  const forms = passwordForms(typed)
  const hashes = [...forms, 'another one'].map((form) => Bun.password.hashSync(form, costs))
  for (const hash of [decoy, ...hashes]) {
    verifySync.mockClear()
    work({ forms, hash, costs })
    expect(verifySync).toHaveBeenCalledTimes(tries)
  }
  expect(hashes.map((hash) => work({ forms, hash, costs }))).toEqual([...forms.keys(), -1])
})
