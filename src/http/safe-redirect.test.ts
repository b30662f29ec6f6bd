import { afterAll, describe, expect, test } from 'bun:test'
import { testApp } from '../testing/test-app.ts'
import { safeRedirect, sharesSession } from './safe-redirect.ts'

const local = await testApp()
const proxied = await testApp({
  BASE_DOMAIN: 'sites.example.com',
  PUBLIC_URL: 'https://admin.sites.example.com',
})
afterAll(() => {
  local.close()
  proxied.close()
})

const kept: string[] = [
  '/',
  '/keys',
  '/projects/1?tab=files#top',
  '/%2f%2fevil.example', // a path that starts this way, not a host
  'https://admin.sites.example.com/keys',
  'https://production--docs--acme.sites.example.com/guide?a=1',
  'https://production--docs--acme.sites.example.com:443/guide',
  'HTTPS://Production--docs--acme.Sites.Example.com/',
]

const refused: [attack: string, address: string][] = [
  ['nothing', ''],
  ['another host', 'https://evil.example/'],
  ['no scheme', '//evil.example'],
  ['no scheme, three slashes', '///evil.example'],
  ['scheme without slashes', 'https:evil.example'],
  ['scheme with one slash', 'https:/evil.example'],
  ['scheme with three slashes', 'https:///evil.example'],
  ['backslash after slash', '/\\evil.example'],
  ['backslash before slash', '\\/evil.example'],
  ['backslash in a URL', 'https://evil.example\\@admin.sites.example.com/'],
  ['tab between slashes', '/\t/evil.example'],
  ['newline between slashes', '/\n/evil.example'],
  ['leading space', ' //evil.example'],
  ['nul', '/\u0000/evil.example'],
  ['user info that looks like the host', 'https://admin.sites.example.com@evil.example/'],
  ['user info on our host', 'https://user:pass@admin.sites.example.com/'],
  ['empty user info', 'https://@evil.example/'],
  ['our name as a prefix', 'https://admin.sites.example.com.evil.example/'],
  ['our name as a suffix of a label', 'https://evilsites.example.com/'],
  ['our name in the path', 'https://evil.example/admin.sites.example.com'],
  ['our name in the query', 'https://evil.example?.sites.example.com'],
  ['our name in the fragment', 'https://evil.example#.sites.example.com'],
  ['another port', 'https://admin.sites.example.com:8443/'],
  ['another port of a site', 'https://a--b--c.sites.example.com:8443/'],
  ['a less secure scheme', 'http://admin.sites.example.com/'],
  ['the base domain itself, which has no site', 'https://sites.example.com/'],
  ['a script', 'javascript:alert(1)//https://admin.sites.example.com/'],
  ['a script in capitals', 'JavaScript:alert(1)'],
  ['data', 'data:text/html,<script>alert(1)</script>'],
  ['a file', 'file:///etc/passwd'],
  ['a blob of our origin', 'blob:https://admin.sites.example.com/1'],
  ['an address', 'https://127.0.0.1/'],
  ['a relative path', 'keys'],
  ['a query alone', '?redirect=x'],
  ['too long', `/${'a'.repeat(8192)}`],
]

test.each([
  ['/日本/größe?q=é#ü', '/%E6%97%A5%E6%9C%AC/gr%C3%B6%C3%9Fe?q=%C3%A9#%C3%BC'],
  ['/\u2028/evil.example', '/%E2%80%A8/evil.example'],
  ['/\ud800', '/%EF%BF%BD'],
  ['/.//evil.example', '/.//evil.example'],
])('a path with characters not allowed in headers is encoded: %j', (address, expected) => {
  expect(safeRedirect(local.ctx, address)).toBe(expected)
})

describe('behind https://admin.sites.example.com', () => {
  test.each(kept)('keeps %s', (address) => {
    const expected = address.startsWith('/') ? address : new URL(address).href
    expect(safeRedirect(proxied.ctx, address)).toBe(expected)
  })

  test.each(refused)('refuses %s: %p', (_attack, address) => {
    expect(safeRedirect(proxied.ctx, address)).toBeUndefined()
  })
})

const localRows: [address: string, isKept: boolean][] = [
  ['http://localhost:3000/keys', true],
  ['http://production--docs--acme.localhost:3000/', true],
  ['http://localhost:9000/', false],
  ['http://localhost/', false],
  ['http://production--docs--acme.localhost:9000/', false],
  ['http://evil.example:3000/', false],
]

test.each(localRows)('on localhost:3000, %s: kept %p', (address, isKept) => {
  expect(safeRedirect(local.ctx, address)).toBe(isKept ? address : undefined)
})

test('sessions are shared below a base domain with a dot, and otherwise limited to one host', () => {
  const site = 'production--docs--acme'
  expect(sharesSession(proxied.ctx, 'admin.sites.example.com', `${site}.sites.example.com`)).toBe(true)
  expect(sharesSession(proxied.ctx, '127.0.0.1', `${site}.sites.example.com`)).toBe(false)
  expect(sharesSession(proxied.ctx, 'admin.sites.example.com', 'www.example.org')).toBe(false)
  expect(sharesSession(local.ctx, 'localhost', `${site}.localhost`)).toBe(false)
  expect(sharesSession(local.ctx, 'localhost', 'localhost')).toBe(true)
})
