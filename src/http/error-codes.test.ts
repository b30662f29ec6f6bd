import { expect, test } from 'bun:test'
import { ERROR_CODES } from './error-codes.ts'

/** A code at an error, or as a constant for one. */
const NAMED = /(?:\bcode(?::| =)|\b[A-Z]+_[A-Z_]+ =) '([A-Z]+(?:_[A-Z]+)+)'/g
/** Codes of the notes of an upload, which have a list of their own. */
const NOTES = ['NESTED_FOLDER', 'NO_START_PAGE', 'PRIVATE_PROJECT']

test('every code is described', async () => {
  const used = new Set<string>()
  for await (const path of new Bun.Glob('src/**/*.ts').scan('.')) {
    if (/\.test\.ts$|^src\/(testing|cli)\//.test(path)) continue
    for (const [, code] of (await Bun.file(path).text()).matchAll(NAMED))
      if (code !== undefined && !NOTES.includes(code)) used.add(code)
  }
  expect([...used].sort()).toEqual(Object.keys(ERROR_CODES))
})
