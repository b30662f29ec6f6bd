import { describe, expect, test } from 'bun:test'
import type { Finding } from './findings.ts'
import { findInPage } from './page-findings.ts'

const short = ({ kind, file, line, target }: Finding) =>
  [kind, file, line, target].filter((part) => part !== null).join(' ')

describe('pages', () => {
  const there = new Set(['/', '/a', '/x.css', '/deep/b.png', '/with?query=1'])
  const site = {
    isOwnHost: (host: string) => host === 'site.example',
    answers: (address: string) => Promise.resolve(there.has(address)),
    pause: () => Promise.resolve(),
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
    [
      'a base that is no address of the web',
      '<base href="data:,x"><img src="c.png">',
      ['asset-missing deep/page.html 1 /deep/c.png'],
    ],
    [
      'a base that is too long',
      `<base href="/${'x'.repeat(20_000)}/"><img src="c.png">`,
      ['asset-missing deep/page.html 1 /deep/c.png'],
    ],
    ['a host that is too long', `<img src="http://${'a'.repeat(2_000)}.example/x">`, []],
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
