import { describe, expect, test } from 'bun:test'
import { parseRedirects } from '../routing/redirects.ts'
import { findInNames } from './file-findings.ts'
import { FindingList } from './finding-list.ts'
import type { Finding } from './findings.ts'
import { findLeftOut } from './left-out.ts'
import { findInLines, findRefused } from './line-findings.ts'
import { findInPage } from './page-findings.ts'
import { findSecret } from './secrets.ts'
import { servedAddresses } from './served-addresses.ts'

const short = ({ kind, file, line, target }: Finding) =>
  [kind, file, line, target].filter((part) => part !== null).join(' ')

function inLines(text: string, files: string[] = []): string[] {
  const paths = ['index.html', ...files]
  const { lines } = parseRedirects(text)
  const place = {
    file: '_redirects',
    host: 'site.example',
    hasFile: servedAddresses({ paths, folder: '' }, null),
    paths: paths.map((path) => `/${path}`),
  }
  return [...findInLines(lines, place)].flatMap((finding) => (finding === null ? [] : [short(finding)]))
}

describe('lines of _redirects', () => {
  test.each<[string, string, string[], string[]]>([
    ['a target that is redirected once more', '/a /b\n/b /c', [], ['redirect-chain _redirects 1 /b']],
    ['a target on another host', '/a https://other.example/b\n/b /c', [], []],
    ['a target that a line with a condition takes', '/a /b\n/b /c 302 Language=de', [], []],
    ['what an earlier line takes', '/news/* /n\n/news/x /y', [], ['redirect-shadowed _redirects 2 /news/x']],
    ['what a placeholder takes', '/:a/b /n\n/x/b /y', [], ['redirect-shadowed _redirects 2 /x/b']],
    [
      'a star behind a placeholder',
      '/:a https://n.example/\n/* https://y.example/',
      [],
      ['redirect-hides-file _redirects 1 /index.html', 'redirect-hides-file _redirects 2 /index.html'],
    ],
    ['a line behind one with a query', '/a id=1 /n\n/a /y', [], []],
    ['a line behind one with a condition', '/a /n 302 Cookie=x\n/a /y', [], []],
    ['a line for another host', 'http://other.example/a /n\n/a /y', [], []],
    ['a file before a page', '/a /index.html 200', ['a.html'], ['redirect-shadowed _redirects 1 /a']],
    ['a forced page', '/a /index.html 200!', ['a.html'], []],
    [
      'a redirect over a page further down',
      '/a /index.html 200\n/* /x 302',
      [],
      ['redirect-hides-file _redirects 2 /index.html'],
    ],
    ['a file behind a redirect', '/a /b', ['a.html'], ['redirect-hides-file _redirects 1 /a']],
    ['a file behind a redirect that is meant', '/a /b 301!', ['a.html'], []],
    [
      'a file behind a star',
      '/blog/* /news/:splat',
      ['blog/x.html'],
      ['redirect-hides-file _redirects 1 /blog/x.html'],
    ],
    [
      'a word that the source lacks',
      '/a/:id /b/:word/:id',
      [],
      ['redirect-unknown-placeholder _redirects 1 /b/:word/:id'],
    ],
    ['a word that the query has', '/a id=:id /b/:id', [], []],
    ['a splat without a star', '/a /b/:splat', [], ['redirect-unknown-placeholder _redirects 1 /b/:splat']],
    ['a port is no word', '/a https://other.example:8080/b', [], []],
  ])('%s', (_, text, files, expected) => {
    expect(inLines(text, files)).toEqual(expected)
  })

  test('that were left out', () => {
    const problems = [
      { file: '_redirects', line: 3, message: 'no' },
      { file: 'dist/_headers', line: 1, message: 'no' },
    ]
    expect([...findRefused({ problems })].map(short)).toEqual([
      'redirect-refused _redirects 3',
      'header-refused dist/_headers 1',
    ])
  })
})

describe('names of files', () => {
  test.each<[string, string, string[], string[]]>([
    ['a start page', '', ['index.html'], []],
    ['no start page', '', ['a.html'], ['start-page-missing index.html']],
    ['none in the folder', '/dist', ['index.html', 'dist/a.html'], ['start-page-missing dist/index.html']],
    ['one in the only folder', '', ['site/index.html', 'site/a.css'], ['nested-folder site /site/']],
    ['two folders', '', ['a/index.html', 'b/x'], ['start-page-missing index.html']],
    [
      'routing files elsewhere',
      '',
      ['index.html', 'a/_headers', '_redirects'],
      ['routing-file-elsewhere a/_headers'],
    ],
    [
      'routing files above the folder',
      '/d',
      ['d/index.html', 'd/_redirects', '_redirects'],
      ['routing-file-elsewhere _redirects'],
    ],
    ['two that differ in case', '', ['index.html', 'A.png', 'a.png'], ['case-collision a.png /A.png']],
    [
      'a page beside its folder',
      '',
      ['index.html', 'a.html', 'a/index.html'],
      ['address-clash a.html /a/index.html'],
    ],
  ])('%s', (_, folder, paths, expected) => {
    expect([...findInNames({ paths, folder })].map(short)).toEqual(expected)
  })

  test.each([
    ['.env', 'secret-left-out'],
    ['.env.local', 'secret-left-out'],
    ['a/.npmrc', 'secret-left-out'],
    ['.git/config', 'secret-left-out'],
    ['./.ssh/key', 'secret-left-out'],
    ['.environment', 'left-out'],
    ['.DS_Store', 'left-out'],
    ['node_modules/a/index.js', 'left-out'],
    ['__MACOSX/a', 'left-out'],
    ['node_modules/a/.npmrc', 'left-out'],
  ])('left out: %s', (path, kind) => {
    const [finding] = findLeftOut({ paths: [path] })
    expect(finding?.kind).toBe(kind as Finding['kind'])
    expect(finding?.file).toBe(path.replace(/^\.\//, ''))
  })

  test.each([
    ['a/id_rsa', '', true],
    ['id_ed25519', '', true],
    ['x.P12', '', true],
    ['id_rsa.pub', 'ssh-rsa AAAA', false],
    ['a.txt', '-----BEGIN RSA PRIVATE KEY-----', true],
    ['a.txt', 'x\n-----BEGIN PRIVATE KEY-----\n', true],
    ['a.txt', '-----BEGIN PUBLIC KEY-----', false],
    ['a.txt', '-----BEGIN CERTIFICATE-----', false],
  ])('a key: %s %s', (file, text, isFound) => {
    expect(findSecret(file, Buffer.from(text)) !== null).toBe(isFound)
  })
})

describe('pages', () => {
  const there = new Set(['/', '/a', '/x.css', '/deep/b.png', '/with?query=1'])
  const site = {
    isOwnHost: (host: string) => host === 'site.example',
    answers: (address: string) => Promise.resolve(there.has(address)),
  }
  async function inPage(
    html: string,
    address = '/deep/page.html',
    file = 'deep/page.html',
  ): Promise<string[]> {
    const found: string[] = []
    const text = (async function* () {
      yield html
    })()
    await findInPage({ file, address, text }, site, (finding) => found.push(short(finding)))
    return found
  }

  test.each([
    ['a link that leads to a page', '<a href="/a">', []],
    ['a link that leads nowhere', '<a href="/b">', ['link-missing deep/page.html 1 /b']],
    ['a relative one', '<img src="b.png"><img src="c.png">', ['asset-missing deep/page.html 1 /deep/c.png']],
    ['a base', '<base href="/"><img src="b.png">', ['asset-missing deep/page.html 1 /b.png']],
    ['a fragment', '<a href="#x"><a href="/a#x">', ['link-missing deep/page.html 1 /deep/page.html']],
    ['a query', '<a href="/with?query=1">', []],
    ['the own host', '<a href="https://site.example/b">', ['link-missing deep/page.html 1 /b']],
    ['another host', '<a href="http://other.example/b"><img src="https://other.example/x">', []],
    [
      'an asset without TLS',
      '<img src="http://other.example/x">',
      ['mixed-content deep/page.html 1 http://other.example/x'],
    ],
    ['one without a scheme', '<img src="//other.example/x">', []],
    ['other schemes', '<a href="mailto:a@b"><a href="javascript:x()"><img src="data:,x">', []],
    ['no address', '<a href="http://[">', []],
    ['the same again', '<a href="/b"><a href="/b">', ['link-missing deep/page.html 1 /b']],
  ])('%s', async (_, html, expected) => {
    expect(await inPage(html)).toEqual(expected)
  })

  test('a style sheet, with its lines', async () => {
    expect(await inPage('@import "x.css";\n\na{b:url(y.png)}', '/z.css', 'z.css')).toEqual([
      'asset-missing z.css 3 /y.png',
    ])
  })
})

test('a hundred of a kind are kept, the worst first, and all counted', () => {
  const list = new FindingList()
  const about = (kind: Finding['kind'], line: number): Finding => ({
    kind,
    file: 'x',
    line,
    target: null,
    message: '',
  })
  for (let line = 1; line <= 150; line += 1) list.add(about('left-out', line))
  list.add(about('redirect-loop', 1))
  list.add(about('link-missing', 1))
  expect(list.kept.map(({ kind }) => kind).slice(0, 3)).toEqual(['redirect-loop', 'link-missing', 'left-out'])
  expect(list.kept).toHaveLength(102)
  expect(list.counts).toEqual({ 'left-out': 150, 'redirect-loop': 1, 'link-missing': 1 })
})
