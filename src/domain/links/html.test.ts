import { describe, expect, test } from 'bun:test'
import { HtmlLinks } from './html.ts'
import type { Link } from './link.ts'

/** What pages name. contract 13 §7. */
function linksIn(html: string, piece = html.length || 1): { links: Link[]; base: string | null } {
  const reader = new HtmlLinks()
  const links: Link[] = []
  for (let at = 0; at < html.length; at += piece) links.push(...reader.read(html.slice(at, at + piece)))
  links.push(...reader.end())
  return { links, base: reader.base }
}

const EXAMPLES: [html: string, found: string[]][] = [
  ['<a href="/a">', ['link /a']],
  ['<AREA HREF=/a>', ['link /a']],
  ['<a name=x>', []],
  ['<a href="">', []],
  ['<link rel=stylesheet href=a.css>', ['asset a.css']],
  ['<link rel="shortcut icon" href=a.ico>', ['asset a.ico']],
  ['<link rel=manifest href=a><link rel=modulepreload href=b>', ['asset a', 'asset b']],
  ['<link rel=canonical href=/a><link rel=alternate href=/b>', ['related /a', 'related /b']],
  ['<link href=a><link rel="Alternate Stylesheet" href=b>', ['related a', 'asset b']],
  ['<link rel=preconnect href=https://x><link rel=dns-prefetch href=//x>', []],
  ['<script src=a.js></script>', ['asset a.js']],
  ['<script>const a = "<a href=no>"</script><a href=b>', ['link b']],
  ['<img src=a.png srcset="b.png 1x, c,d.png 2x">', ['asset a.png', 'asset b.png', 'asset c,d.png']],
  ['<source srcset="a 100w,b 200w" src=c>', ['asset c', 'asset a', 'asset b']],
  ['<img srcset="a.png, b.png 2x,">', ['asset a.png', 'asset b.png']],
  ['<img srcset=",, a,,, b (x,y) 1x, c">', ['asset a', 'asset b', 'asset c']],
  ['<video src=a poster=b></video><audio src=c></audio>', ['asset a', 'asset b', 'asset c']],
  ['<iframe src=a></iframe><track src=b><embed src=c>', ['asset a', 'asset b', 'asset c']],
  ['<object data=a><param src=no></object>', ['asset a']],
  ['<a href="/a?b=1&amp;c=2">', ['link /a?b=1&c=2']],
  ['<a href="/&#x61;&#98;&uuml;&copy=1">', ['link /abü&copy=1']],
  ["<a href='/a\"b'>", ['link /a"b']],
  ['<a href=/a/>', ['link /a/']],
  ['<a href=/a href=/b>', ['link /a']],
  ['<a href=" /a\n">', ['link /a']],
  ['<!-- <a href=no> --><a href=a>', ['link a']],
  ['<!doctype html><?php <a href=a> ?>', []],
  ['<!---><a href=a>', ['link a']],
  ['<template><a href=no><style>url(no)</style><template></template></template><a href=a>', ['link a']],
  ['<style>a { b: url(a) } /* url(no) */ @import "b";</style><a href=c>', ['asset a', 'asset b', 'link c']],
  ['<style>a { b: "</b>" url(a) }', ['asset a']],
  ['<p style="background: url(&quot;a&quot;)">', ['asset a']],
  ['<textarea><a href=no></textarea><title><a href=no></title>', []],
  ['<noscript><img src=a></noscript>', ['asset a']],
  ['<svg><style /><title/><a href=a></a></svg><a href=b>', ['link a', 'link b']],
  ['<constructor src=no><__proto__ src=no><toString href=no>', []],
  ['<a href="never closed', []],
  ['<a href=x', []],
  ['<!-- never closed <a href=no>', []],
  ['<script>never closed <a href=no>', []],
  ['< a href=no><1 href=no></a href=no>', []],
  [`<a href=${'x'.repeat(8193)}><a href=b>`, ['link b']],
]

describe.each([1, 7, 1_000_000])('in pieces of %d', (piece) => {
  test.each(EXAMPLES)('%s', (html, found) => {
    expect(linksIn(html, piece).links.map(({ kind, address }) => `${kind} ${address}`)).toEqual(found)
  })

  test('a link has the line in which its tag begins, and one of a style its own', () => {
    const html =
      '<a href=1>\n<p\n title="x">\r\n<!-- \n\n -->text\n<a\n\nhref=7>\n<style>\nx\nurl(12)</style><a href=12b>\n<img\nsrc=13>'
    expect(linksIn(html, piece).links.map(({ address, line }) => [address, line])).toEqual([
      ['1', 1],
      ['7', 7],
      ['12', 12],
      ['12b', 12],
      ['13', 13],
    ])
  })

  test('the first base that has an address', () => {
    expect(linksIn('<base target=_top><base href=/a/><base href=/b/>', piece).base).toBe('/a/')
  })
})

test('a long style is cut, and says so', () => {
  const reader = new HtmlLinks()
  reader.read('<style>')
  for (let at = 0; at < 300; at += 1) reader.read('x'.repeat(1024))
  reader.read('url(a)</style><a href=b>')
  expect([reader.isCut, reader.end()]).toEqual([true, []])
})
