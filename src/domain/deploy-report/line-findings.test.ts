import { expect, test } from 'bun:test'
import { parseRedirects } from '../routing/redirects.ts'
import { findInLines } from './line-findings.ts'
import { servedAddresses } from './served-addresses.ts'

const PATHS = ['index.html', 'a.html', 'blog/one.html', 'blog/two words.html', 'img.png']

/** `kind line target` of what the lines of a `_redirects` tell. contract 13 §7. */
function found(text: string): string[] {
  const { lines, problems } = parseRedirects(text)
  expect(problems).toEqual([])
  const place = {
    file: '_redirects',
    host: 'www.example.com',
    hasFile: servedAddresses({ paths: PATHS, folder: '' }, null),
    addresses: PATHS.map((path) => encodeURI(`/${path}`)),
  }
  return [...findInLines(lines, place)].flatMap((one) =>
    one === null ? [] : [`${one.kind} ${one.line} ${one.target}`],
  )
}

const EXAMPLES: [text: string, found: string[]][] = [
  ['/x /y', []],
  ['/x /y\n/x /z', ['redirect-shadowed 2 /x']],
  ['/x/* /y\n/x/1 /z', ['redirect-shadowed 2 /x/1']],
  ['/x/1 /y\n/x/* /z', []],
  ['/x/:id /y\n/x/* /z', []],
  ['/x /y Language=de\n/x /z', []],
  ['/x id=:id /y/:id\n/x /z', []],
  ['https://other.example.com/x /y\n/x /z', []],
  ['https://www.example.com/x /y\n/x /z', ['redirect-shadowed 2 /x']],
  ['/x /img.png 200\n/x /z', []],
  ['/x /z\n/x /img.png 200!', ['redirect-shadowed 2 /x']],
  ['/x /none.png 200\n/x /img.png 200', []],
  ['/a.html /img.png 200', ['redirect-shadowed 1 /a.html']],
  ['/a.html /img.png 200!', []],
  ['/a /y', ['redirect-hides-file 1 /a']],
  ['/a /y 301!', []],
  ['/a /y Cookie=c', []],
  ['/a id=1 /y', []],
  ['/blog/* /y/:splat', ['redirect-hides-file 1 /blog/one.html']],
  ['/blog/two* /y', ['redirect-hides-file 1 /blog/two%20words.html']],
  ['/blog/* /y/:splat 301!', []],
  ['https://other.example.com/blog/* /y', []],
  ['/* https://www.example.com/:splat', []],
  ['/x /y\n/y /z', ['redirect-chain 1 /y']],
  ['/x /y 302\n/y /img.png 200', []],
  ['/x /y\n/y /z Cookie=c', []],
  ['/x/* /y/:splat\n/y/* /z', ['redirect-chain 1 /y/any-1/thing-2']],
  ['/x https://other.example.com/y\n/y /z', []],
  ['/x /y/:id', ['redirect-unknown-placeholder 1 /y/:id']],
  ['/x /y/:splat', ['redirect-unknown-placeholder 1 /y/:splat']],
  ['/x/:id /y/:id', []],
  ['/x id=:id /y/:id', []],
  ['/x /y/a:id?q=/:id#/:id', []],
  [
    '/x https://other.example.com:8080/:id',
    ['redirect-unknown-placeholder 1 https://other.example.com:8080/:id'],
  ],
]

test.each(EXAMPLES)('%s', (text, expected) => {
  expect(found(text)).toEqual(expected)
})

test('many long lines and many files are looked at in small pieces', () => {
  const long = (at: number) => `/${at}/${'x/'.repeat(400)}`
  const fixed = Array.from({ length: 2000 }, (_, at) => `${long(at)} ${long(at + 1)}`)
  const open = Array.from({ length: 100 }, (_, at) => `/open-${at}/*/x /y/${at}`)
  const { lines } = parseRedirects([...open, ...fixed].join('\n'))
  const addresses = Array.from({ length: 2000 }, (_, at) => `/page-${at}.html`)
  const place = { file: '_redirects', host: 'x', hasFile: () => true, addresses }
  const kinds = [...findInLines(lines, place)]
  expect(kinds.length).toBeGreaterThan(100 * (2000 / 100))
  expect(kinds.filter((one) => one?.kind === 'redirect-chain')).toHaveLength(1999)
})
