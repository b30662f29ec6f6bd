import { expect, test } from 'bun:test'
import { ledCss, ledSrcset, ledUrl } from './led-paths.ts'

const M = '/_svc/picture/t'

test.each([
  ['/app.css', `${M}/app.css`],
  ['/', `${M}/`],
  [' \n/app.css', ` \n${M}/app.css`],
  ['//cdn.example/app.css', '//cdn.example/app.css'],
  ['/\\cdn.example', '/\\cdn.example'],
  ['app.css', 'app.css'],
  ['https://a.example/x', 'https://a.example/x'],
  ['#/x', '#/x'],
  ['', ''],
])('the address %j', (url, led) => {
  expect(ledUrl(url, M)).toBe(led)
})

test.each([
  ['/a.png', `${M}/a.png`],
  ['/a.png 1x, b.png 2x, //c/d.png 3x, /e.png 4x', `${M}/a.png 1x, b.png 2x, //c/d.png 3x, ${M}/e.png 4x`],
  ['/a,b.png 100w,/c.png 200w', `${M}/a,b.png 100w,${M}/c.png 200w`],
  ['/a.png, /b.png 2x', `${M}/a.png, ${M}/b.png 2x`],
  ['\n  /a.png 1x,\n  /b.png 2x\n', `\n  ${M}/a.png 1x,\n  ${M}/b.png 2x\n`],
  ['', ''],
])('the srcset %j', (srcset, led) => {
  expect(ledSrcset(srcset, M)).toBe(led)
})

test.each([
  ['a{background:url(/a.png)}', `a{background:url(${M}/a.png)}`],
  [`a{background:URL( "/a.png" )}`, `a{background:URL( "${M}/a.png" )}`],
  [`@import '/b.css';@IMPORT"/c.css"`, `@import '${M}/b.css';@IMPORT"${M}/c.css"`],
  ['@import url(/b.css) screen;', `@import url(${M}/b.css) screen;`],
  [
    'a{background:url(//cdn/a.png),url(a.png),url(data:,/x)}',
    'a{background:url(//cdn/a.png),url(a.png),url(data:,/x)}',
  ],
  ['a{content:"/x"}', 'a{content:"/x"}'],
])('the style %j', (css, led) => {
  expect(ledCss(css, M)).toBe(led)
})

test('a mount is put in as it is, whatever a replacement would mean by it', () => {
  expect([ledUrl('/a', '/$&'), ledCss('url(/a)', '/$1'), ledSrcset('/a', "/$'")]).toEqual([
    '/$&/a',
    'url(/$1/a)',
    "/$'/a",
  ])
})

test('hostile texts take time that grows with their length', () => {
  for (const text of ['/a,'.repeat(50_000), '('.repeat(100_000), ' ,'.repeat(50_000), 'url('.repeat(50_000)])
    expect([ledUrl(text, M), ledSrcset(text, M), ledCss(text, M)]).toHaveLength(3)
})
