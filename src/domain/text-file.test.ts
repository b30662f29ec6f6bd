import { expect, test } from 'bun:test'
import { textOf } from './text-file.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const utf16 = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le'))
const bigEndian = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le').swap16())

const rows: [string, Uint8Array, string | null][] = [
  ['nothing', utf8(''), ''],
  ['one byte', utf8('a'), 'a'],
  ['plain', utf8('{"a":"ü"}'), '{"a":"ü"}'],
  ['a mark', utf8('\ufeff{}'), '{}'],
  ['a mark alone', utf8('\ufeff'), ''],
  ['a mark further on stays', utf8('a\ufeffb'), 'a\ufeffb'],
  ['UTF-16 with a mark', utf16('\ufeff{}'), null],
  ['UTF-16, big end first, with a mark', bigEndian('\ufeff{}'), null],
  ['UTF-16 without a mark', utf16('{}'), null],
  ['UTF-16, big end first, without a mark', bigEndian('{}'), null],
]

test.each(rows)('%s', (_name, bytes, text) => {
  expect(textOf(bytes)).toBe(text)
})
