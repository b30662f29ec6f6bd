import { expect, test } from 'bun:test'
import { refuseCrossOrigin } from './same-origin.ts'

const HOST = 'admin.example.com:8443'
type Row = [what: string, method: string, headers: Record<string, string>, isRefused: boolean]

const rows: Row[] = [
  ['reads are never rejected', 'GET', { origin: 'https://evil.example' }, false],
  ['HEAD', 'HEAD', { origin: 'https://evil.example' }, false],
  ['OPTIONS', 'OPTIONS', { origin: 'https://evil.example' }, false],
  ['curl sends none of the three', 'POST', {}, false],
  ['the same origin', 'POST', { origin: 'https://admin.example.com:8443' }, false],
  ['another scheme, since a proxy may end TLS', 'POST', { origin: 'http://admin.example.com:8443' }, false],
  ['upper case', 'POST', { origin: 'https://ADMIN.example.com:8443' }, false],
  ['another port', 'POST', { origin: 'https://admin.example.com' }, true],
  ['a sibling site', 'POST', { origin: 'https://evil.example.com:8443' }, true],
  [
    'a sibling site that says so',
    'POST',
    { origin: 'https://a.example.com:8443', 'sec-fetch-site': 'same-site' },
    true,
  ],
  ['a sandboxed page', 'POST', { origin: 'null' }, true],
  ['a sandboxed page that says so', 'POST', { origin: 'null', 'sec-fetch-site': 'cross-site' }, true],
  ['the referer, if there is no origin', 'POST', { referer: 'https://admin.example.com:8443/a?b' }, false],
  ['a foreign referer', 'DELETE', { referer: 'https://evil.example/' }, true],
  [
    'the origin takes precedence over the referer',
    'PUT',
    { origin: 'https://evil.example', referer: `https://${HOST}/` },
    true,
  ],
  ['the browser says same-origin', 'POST', { 'sec-fetch-site': 'same-origin' }, false],
  ['the browser says that a person did it', 'POST', { 'sec-fetch-site': 'none' }, false],
  ['the browser says cross-site and nothing else', 'POST', { 'sec-fetch-site': 'cross-site' }, true],
  [
    'a host that only starts the same',
    'POST',
    { origin: 'https://admin.example.com:8443.evil.example' },
    true,
  ],
  ['not a URL', 'PATCH', { origin: 'admin.example.com:8443' }, true],
]

test.each(rows)('%s', (_what, method, headers, isRefused) => {
  const check = () => refuseCrossOrigin(new Request(`https://${HOST}/`, { method, headers }), HOST)
  if (isRefused) expect(check).toThrow('page of another site')
  else expect(check).not.toThrow()
})

test('a default port may be included or omitted', () => {
  const request = new Request('https://a.example/', {
    method: 'POST',
    headers: { origin: 'https://a.example' },
  })
  expect(() => refuseCrossOrigin(request, 'a.example:443')).not.toThrow()
})

test('the error names both hosts, because a proxy may have dropped the host or its port', () => {
  const from = (origin: string) => () =>
    refuseCrossOrigin(new Request('http://svc/', { method: 'POST', headers: { origin } }), '127.0.0.1:3000')
  expect(from('https://admin.example.com:8443')).toThrow(
    'sent to 127.0.0.1:3000 from a page of another site (admin.example.com:8443)',
  )
  expect(from('null')).toThrow('sent to 127.0.0.1:3000 from a page of another site, so')
})
