import { expect, test } from 'bun:test'
import { parseWebUrl } from './web-url.ts'

const rows: [header: string, host: string | null][] = [
  ['https://docs.example.com', 'docs.example.com'],
  ['http://docs.example.com:8080/a?b', 'docs.example.com:8080'],
  ['HTTPS://B\u00fccher.example/', 'xn--bcher-kva.example'],
  [`https://docs.example.com/${'a'.repeat(8000)}`, 'docs.example.com'],
  [`https://docs.example.com?${'a'.repeat(8000)}`, 'docs.example.com'],
  ['null', null],
  ['', null],
  ['docs.example.com', null],
  [`http://a${'%CC%81%CC%A3'.repeat(5000)}/`, null],
  [`http://a${'%CC%81%CC%A3'.repeat(5000)}`, null],
  [`ht\ttp://a${'%CC%81%CC%A3'.repeat(5000)}/`, null],
]
test.each(rows)('%#', (header, host) => expect(parseWebUrl(header)?.host ?? null).toBe(host))
