import { describe, expect, test } from 'bun:test'
import { addressesInCss } from './css.ts'
import { HtmlLinks } from './html.ts'
import type { Link } from './link.ts'
import { addressesInSrcset } from './srcset.ts'

/** What a page names, read in pieces of `size`. */
function linksOf(html: string, size = html.length): { links: Link[]; base: string | null } {
  const reader = new HtmlLinks()
  const links: Link[] = []
  for (let at = 0; at < html.length; at += size) links.push(...reader.read(html.slice(at, at + size)))
  links.push(...reader.end())
  return { links, base: reader.base }
}

const named = (html: string) => linksOf(html).links.map(({ kind, address }) => `${kind} ${address}`)

describe('a page names', () => {
  test.each([
    ['<a href=x>', ['link x']],
    ['<area href="x">', ['link x']],
    ['<A HREF="X">', ['link X']],
    ['<a name=x>', []],
    ['<a href="">', []],
    ['<a href=" x\n">', ['link x']],
    ['<a href="a?b=1&amp;c=&#50;">', ['link a?b=1&c=2']],
    ['<!-- <a href=x> --><a href=y>', ['link y']],
    ['<script>"<a href=x>"</script>', []],
    ['<template><a href=x></a><template></template><a href=y></a></template><a href=z>', ['link z']],
    ['<textarea><a href=x></textarea>', []],
    ['<script src=x></script>', ['asset x']],
    ['<img src=x srcset="y 2x, z 100w">', ['asset x', 'asset y', 'asset z']],
    ['<picture><source srcset="x"><source src="y"></picture>', ['asset x', 'asset y']],
    ['<video src=x poster=y></video>', ['asset x', 'asset y']],
    ['<audio src=x></audio>', ['asset x']],
    ['<iframe src=x></iframe>', ['asset x']],
    ['<track src=x>', ['asset x']],
    ['<embed src=x>', ['asset x']],
    ['<object data=x></object>', ['asset x']],
    ['<link rel=stylesheet href=x>', ['asset x']],
    ['<link rel="shortcut ICON" href=x>', ['asset x']],
    ['<link rel=manifest href=x>', ['asset x']],
    ['<link rel=canonical href=x>', ['link x']],
    ['<link rel=preconnect href=x>', []],
    ['<link href=x>', []],
    ['<style>a{background:url(x)}</style>', ['asset x']],
    ['<style>@import "x";', ['asset x']],
    ['<p style="background:url(&quot;x&quot;)">', ['asset x']],
    ['<input src=x><form action=y>', []],
  ])('%s', (html, expected) => {
    expect(named(html)).toEqual(expected)
  })
})

test('the first base counts', () => {
  expect(linksOf('<base target=_top><base href="/a/"><base href="/b/">').base).toBe('/a/')
})

test('lines are those of the tags, however the page comes', () => {
  const html = '<p>\n\n<a\nhref=x>\r\n</a><img src="y"\n>\n<a href=z>'
  const expected = [
    { kind: 'link', address: 'x', line: 3 },
    { kind: 'asset', address: 'y', line: 5 },
    { kind: 'link', address: 'z', line: 7 },
  ] as const
  for (const size of [4, 7, 16, html.length]) expect(linksOf(html, size).links).toEqual([...expected])
})

describe('a style sheet names', () => {
  test.each([
    ['a{background:url(x.png)}', ['x.png']],
    ['a{background:URL( "x y.png" )}', ['x y.png']],
    ["a{background:url('x')} b{background:url(y)}", ['x', 'y']],
    ['@import "x.css" print;', ['x.css']],
    ['@import url(x.css);', ['x.css']],
    ['/* url(x) @import "y" */ a{b:url(z)}', ['z']],
    ['a{content:"url(x)"}', []],
    ['@namespace svg url(http://www.w3.org/2000/svg);', []],
    ['a{b:my-url(x)}', []],
    [String.raw`a{b:url(a\)b\20 c)}`, ['a)b c']],
    ['a{b:url()}', []],
    ['a{b:url(x', ['x']],
    ['/* url(x)', []],
  ])('%s', (css, expected) => {
    expect([...addressesInCss(css)].map(({ address }) => address)).toEqual(expected)
  })

  test.each([
    ['comments', '/*'],
    ['quotes', '"'],
    ['addresses', 'url('],
    ['blanks', 'url(          '],
    ['backslashes', 'url(\\'],
  ])('nothing more slowly for %s that never end', (_, piece) => {
    const of = (times: number) => [...addressesInCss(piece.repeat(times))].length
    expect(of(100_000)).toBeGreaterThanOrEqual(0)
  })
})

test.each([
  ['a.png', ['a.png']],
  ['a.png 1x,b.png 2x', ['a.png', 'b.png']],
  [' a.png , b.png', ['a.png', 'b.png']],
  ['data:image/png;base64,AAAA 1x, b.png', ['data:image/png;base64,AAAA', 'b.png']],
  ['a.png (1,2), b.png', ['a.png', 'b.png']],
  [',,,', []],
  ['', []],
])('srcset %s', (srcset, expected) => {
  expect(addressesInSrcset(srcset)).toEqual(expected)
})
