import { describe, expect, test } from 'bun:test'
import {
  asciiHost,
  clashLabel,
  deploymentRef,
  hostLabel,
  isHostField,
  isIpLiteral,
  isMappableLabel,
  normalizeHost,
  siteLabelOf,
} from './hostname.ts'

const LABEL_63 = 'a'.repeat(63)

describe('isHostField', () => {
  const hosts = ['example.com', 'EXAMPLE.com.:80', 'a_b:', '[::1]', '[2001:DB8::A]:443', 'a..b', '%65x.com']
  test.each([...hosts, `${LABEL_63}a.example`, 'a;b', 'localhost:99999'])('%p can be', (text) => {
    expect(isHostField(text)).toBe(true)
  })

  const others = [
    '',
    ':80',
    'a b',
    'a/b',
    'a, b',
    'user@a',
    'a:b',
    'a:80:80',
    '[::1',
    '::1',
    'bücher.example',
  ]
  test.each([...others, 'a?b', 'a#b', 'a\\b', 'a\0', '<b>'])('%p cannot be', (text) => {
    expect(isHostField(text)).toBe(false)
  })
})

describe('normalizeHost', () => {
  const cases: [header: string | null, expected: string | null][] = [
    ['example.com', 'example.com'],
    ['Example.COM', 'example.com'],
    ['example.com:3000', 'example.com'],
    ['Example.com.:443', 'example.com'],
    ['example.com.', 'example.com'],
    ['example.com:', 'example.com'],
    ['example.com:65535', 'example.com'],
    ['localhost', 'localhost'],
    ['nas', 'nas'],
    ['production--docs--acme.localhost:3000', 'production--docs--acme.localhost'],
    ['-x--docs--acme.localhost', '-x--docs--acme.localhost'],
    ['my_service:80', 'my_service'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['127.0.0.1:3000', '127.0.0.1'],
    ['[::1]', '[::1]'],
    ['[::1]:3000', '[::1]'],
    ['[0:0:0:0:0:0:0:1]', '[::1]'],
    ['[2001:DB8::A]:443', '[2001:db8::a]'],
    [`${LABEL_63}.example`, `${LABEL_63}.example`],
    [null, null],
    ['', null],
    ['.', null],
    [':80', null],
    ['.example.com', null],
    ['a..b', null],
    ['example.com..', null],
    ['example.com:http', null],
    ['example.com:-1', null],
    ['example.com:65536', null],
    ['example.com:000080', null],
    ['[::1]:000080', null],
    ['example.com:80:80', null],
    ['exa mple.com', null],
    ['example.com/path', null],
    ['user@example.com', null],
    ['example.com,evil.com', null],
    ['example.com\0', null],
    ['bücher.example', null],
    ['%65xample.com', null],
    ['*.example.com', null],
    ['::1', null],
    ['[::1', null],
    ['[::1]x', null],
    ['[::1]:x', null],
    ['[::1].', null],
    ['[]', null],
    ['[127.0.0.1]', null],
    ['[fe80::1%25eth0]', null],
    [`${LABEL_63}a.example`, null],
    [`${`${LABEL_63}.`.repeat(4)}com`, null],
  ]

  test.each(cases)('%p is %p', (header, expected) => {
    expect(normalizeHost(header)).toBe(expected)
  })
})

test.each([
  ['127.0.0.1', true],
  ['192.168.1.10', true],
  ['255.255.255.255', true],
  ['[::1]', true],
  ['::1', true],
  ['[2001:db8::a]', true],
  ['localhost', false],
  ['example.com', false],
  ['1.example.com', false],
  ['127.1', false],
  ['2130706433', false],
  ['256.0.0.1', false],
  ['01.2.3.4', false],
  ['[127.0.0.1]', false],
  ['[::g]', false],
  ['', false],
])('%p is an address: %p', (host, expected) => {
  expect(isIpLiteral(host)).toBe(expected)
})

test.each<[string, string, string | null]>([
  ['production--docs--acme.localhost', 'localhost', 'production--docs--acme'],
  ['www.example.com', 'example.com', 'www'],
  ['a.b.example.com', 'example.com', null],
  ['example.com', 'example.com', null],
  ['.example.com', 'example.com', null],
  ['wwwexample.com', 'example.com', null],
  ['www.example.org', 'example.com', null],
  ['www.example.com.evil.org', 'example.com', null],
  ['com', 'example.com', null],
  ['www.sites.example.com', 'sites.example.com', 'www'],
])('the label of %s below %s is %p', (host, baseDomain, expected) => {
  expect(siteLabelOf(host, baseDomain)).toBe(expected)
})

describe('hostLabel', () => {
  test.each([
    ['production', 'docs', 'acme', 'production--docs--acme'],
    ['Production', 'My.Docs', 'ACME_Inc', 'production--my-docs--acme-inc'],
    ['pr_42', 'a..__b', 'o', 'pr-42--a-b--o'],
    ['0123456789ab', 'docs', 'acme', '0123456789ab--docs--acme'],
    ['_x_', '.github', 'o-', '-x----github--o-'],
    ['a', 'r'.repeat(56), 'oo', `a--${'r'.repeat(56)}--oo`],
  ])('%s, %s, %s: %s', (ref, repo, owner, expected) => {
    expect(hostLabel({ ref, repo, owner })).toBe(expected)
  })

  test('a label over 63 characters is cut to 54 and gets 8 digits of the full label’s SHA-256', () => {
    const uncut = `staging--${'r'.repeat(60)}--acme`
    const digest = new Bun.CryptoHasher('sha256').update(uncut).digest('hex')
    const label = hostLabel({ ref: 'staging', repo: 'R'.repeat(60), owner: 'acme' })
    expect(label).toBe(`${uncut.slice(0, 54)}-${digest.slice(0, 8)}`)
    expect(label).toHaveLength(63)
  })

  test('two long labels with the same start stay different', () => {
    const label = (owner: string) => hostLabel({ ref: 'staging', repo: 'r'.repeat(60), owner })
    expect(label('acme')).not.toBe(label('bravo'))
  })
})

test('a clash label ends in a dash and 8 digits of the SHA-256, and the next one again', () => {
  const first = clashLabel('production--docs--acme')
  const digest = new Bun.CryptoHasher('sha256').update('production--docs--acme').digest('hex')
  expect(first).toBe(`production--docs--acme-${digest.slice(0, 8)}`)
  expect(clashLabel(first)).not.toBe(first)

  const long = hostLabel({ ref: 'staging', repo: 'r'.repeat(60), owner: 'acme' })
  expect(clashLabel(long)).toHaveLength(63)
  expect(clashLabel(long)).not.toBe(long)
})

test('a deployment host begins with 12 digits of the SHA', () => {
  expect(deploymentRef('0123456789ABCDEF0123')).toBe('0123456789ab')
  expect(deploymentRef('abcdef0')).toBe('abcdef0')
})

describe('isMappableLabel', () => {
  const rows: [label: string, isMappable: boolean][] = [
    ['docs', true],
    ['a-b', true],
    ['a--b', false],
    ['xn--bcher-kva', true],
    ['xn--r8jz45g', true],
    // The Unicode form is `a-ã-b`.
    ['xn--a--b-hoa', true],
    // The Unicode form is `a--bü`.
    ['xn--a--b-3ra', false],
    ['xn--docs--acme', false],
    ['xn--a', false],
    ['xn--abc-', false],
    ['xn--', false],
    ['xn---docs', false],
    ['axn--bcher-kva', false],
  ]
  test.each(rows)('%p: %p', (label, isMappable) => {
    expect(isMappableLabel(label)).toBe(isMappable)
  })
  test.each(['bücher', 'a-ã-b', 'ελλάδα', 'почта'])('the A-label of %p is', (name) => {
    expect(isMappableLabel(asciiHost(name) ?? '')).toBe(true)
  })
})
