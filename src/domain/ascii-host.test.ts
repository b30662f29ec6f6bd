import { expect, test } from 'bun:test'
import { asciiHost } from './ascii-host.ts'

test.each<[text: string, host: string | null]>([
  ['Example.COM.', 'example.com'],
  ['b\u00fccher.example', 'xn--bcher-kva.example'],
  ['10.0.0.1', '10.0.0.1'],
  ['10.1', null],
  ['0x7f.0.0.1', null],
  ['a b', null],
  ['ann@host', null],
  ['host:80', null],
  ['host/path', null],
  ['h%6fst', null],
  ['[::1]', null],
  ['', null],
])('%j is %p', (text, host) => {
  expect(asciiHost(text)).toBe(host)
})
