import { expect, test } from 'bun:test'
import { linksInCss } from './css.ts'

/** What style sheets name. contract 13 §7. */
const EXAMPLES: [css: string, addresses: string[]][] = [
  ['a { background: url(a.png) }', ['a.png']],
  ['a { background: URL( "a b.png" ) }', ['a b.png']],
  ["a { background: url('a.png'), url(b.png) }", ['a.png', 'b.png']],
  [String.raw`a { background: url(a\)\ b.png) }`, ['a) b.png']],
  [String.raw`a { background: url("a\"b.png") }`, ['a"b.png']],
  [String.raw`a { background: url(\61 .png) }`, ['a.png']],
  [String.raw`a { background: url(\0.png) url(\ffffff.png) }`, ['\ufffd.png', '\ufffd.png']],
  ['@import "a.css"; @import url(b.css) print;', ['a.css', 'b.css']],
  ["@IMPORT\n'a.css' screen;", ['a.css']],
  ['@namespace svg url(http://www.w3.org/2000/svg); a { b: url(c) }', ['c']],
  ['@namespace "http://x/"; a { b: url(c) }', ['c']],
  ['/* url(no.png) */ a { b: url(c)/* url(no) */ }', ['c']],
  ['a { content: "url(no.png)"; b: url(c) }', ['c']],
  ['a { content: "it\'s"; b: url(c) }', ['c']],
  ['a { content: "not closed\n; b: url(c) }', ['c']],
  ['my-url(no) xurl(no) -url(no)', []],
  ['url() url("") url(  )', []],
  ['url(data:image/png;base64,AA==)', ['data:image/png;base64,AA==']],
  ['/* never closed url(no)', []],
  ['url("never closed', ['never closed']],
  [`url(${'x'.repeat(8193)}) url(y)`, ['y']],
]

test.each(EXAMPLES)('%s', (css, addresses) => {
  expect([...linksInCss(css)].map(({ address }) => address)).toEqual(addresses)
})

test('the line of each counts from the given one', () => {
  const css = 'a { b: url(1) }\n\n/*\n*/ c { d: url(4) }\n@import "5";'
  expect([...linksInCss(css, 10)].map(({ address, line }) => [address, line])).toEqual([
    ['1', 10],
    ['4', 13],
    ['5', 14],
  ])
})
