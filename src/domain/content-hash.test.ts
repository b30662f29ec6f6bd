import { describe, expect, test } from 'bun:test'
import { hasContentHash, mayBeOfEarlier } from './content-hash.ts'

/** Names that bundlers gave: their content never changes. */
const HASHED = `
main.3f2a9c1d.js main.8b3e5d9f2c71.chunk.js.3f2a9c1d.js runtime.5f1e6c8a.js vendors-4c7d1e9b.js polyfills.a1b2c3d4e5f6a7b8.js
styles.0f3d5b7a9c1e2d4f.css main.d41d8cd98f00b204e9800998ecf8427e.js chunk-2c5ea1b9.4f8d0e6a.css 787.f4b1c9e2.js 2.d4e5f6a7b8.js
logo.9c3f1a7b.svg media/hero.4d2e8f6b1a.png fonts/inter.c0ffee42ba5e.woff2 img/photo-7b1e4c9d.jpg sounds/ping_5e9a1f3c.mp3
assets/data_3c1f7e9b2d.json a.0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9.bin nodes/3.Cckk7-aE.js
3f2a9c1d.js 8c7b6a5f4e3d2c1b.css 9e107d9d372bb6826bd81d3542a6d9f0d6.wasm js/0c9d8e7f.mjs 1a2b3c4d5e6f.cjs
index-BfTa1x_3.js index-D1f9aQ2x.css index-CsXy7_9z.js Home-B2kLm9Qx.js assets/logo-Bx7pQ3zT.svg about-C4nR8tYw.mjs photo-D8x_Ka2q.webp
inter-latin-C7hN2qPv.woff2 worker-Dq3Z8kXa.js module-Bp1O-EsE.wasm style.A9bXc3Zq.css chunk.Xk29sLmQ.js app-x1Y2z3W4.js
index-B-k2Xq9L.js index-Cx-1Ab_z.js data.Q7wErT9y.json doc-Zx8Y7wVu.pdf icons-E3rT5yUi.png
chunk-2WQVZKQ6.js chunk-XK5ZQ2RN.js main-7ZQ3KXWB.js polyfills-B6TNHZQD.js styles-5INURTSO.css chunk-FHZ4JXO3.mjs app-A2B3C4D5.js
chunk.QW4ER5TY.js worker-2A3B4C5D.wasm
BfTa1x_3.js Dq3Z8kXa.css
_next/static/chunks/framework.js _next/static/media/photo.png _next/static/abc/_buildManifest.js _next/static/css/style.css
sub/_next/static/chunks/main.js _app/immutable/nodes/3.js _app/immutable/assets/app.css _app/immutable/entry/start.js
_astro/hoisted.js _astro/photo.png _astro/index.css _nuxt/entry.js _nuxt/DX-xy1B5.js _nuxt/icons.svg docs/_nuxt/logo.png
build/q-5c4d3b2a.js _expo/static/js/web/entry-3f9e1c7b5d2a.js page-data/app-4b8d2f6a0c.json gatsby-1e7c3a9f5b.txt
main-es2015.4c1a9f3e7b2d.js 0-7f3e9c1a5b2d8f4e.js scripts.1d6f0b8e4a2c.js static/media/font.2e9b7d4c1f.ttf a.B1c2D3e4.avif
dist/bundle.0d9c8b7a6f5e4d3c2b1a.js file_0123456789abcdef.dat archive.abcdef0123456789.zip photo-0123456789abcdef.jpg
`
/** Names that people, cameras and offices gave, and bundlers' names that only look for certain. */
const PLAIN = `
background1.png annual-report2025.pdf style_v2.css IMG_20240102.jpg LICENSE_JBIG2 player-version2.js index.js app.css main.js
IMG_0012.JPG DSC00042.JPG PXL_20240102_093015123.jpg Screenshot_2024-01-02.png report-20241105.pdf report-v20241105.pdf
jquery-3.7.1.min.js bootstrap-5.3.3.css d3.v7.min.js lodash-4.17.21.js react-18.3.1.production.min.js normalize.v8.css
component.js my-component.js my-Settings.js lib-TypeDefs.js old-page1.js script-v2.js 20241105.js app-20241105.js abcdef12.js
2024abcd.js bundle.decade12.js bundle.12decade.js cafe-deadbeef.js facade-00000000.js notes-abcdefab.txt invoice_12345678.pdf
logo-1a2b3c4.svg main.3f2a9c1d.js/readme.txt main.3F2A9C1D.css chunk-3F2A9C1D.mjs photo-äbc12345678.jpg main.________.js
index-DiwrgTda.css Lazy-IQPYCrzu.js assets/s-CMNnYTV-.js js/app.1b4d7f0a.js.map assets/photo-CcIYShBm.png doc.ABCDEFGH.pdf
data-Report12.csv data-Report-2.csv plan-Phase-12.doc Team-Photo12.jpg notes-Week1Day.txt minutes-Version2.md Band-ABBA1974.mp3
chunk-ABCDEF23.js chunk-ABCDEFGH.js chunk-23456723.js photo-2WQVZKQ6.png map-A2B3C4D5.svg plan_2WQVZKQ6.js 2WQVZKQ6.js
3f2a9c1d.png 3f2a9c1d BfTa1x_3.png BfTa1x_3 README CHANGELOG.md Makefile robots.txt favicon.ico sitemap.xml
page.3f2a9c1d.html index-BfTa1x_3.htm chapter.3f2a9c1d.xhtml part.0123456789abcdef.xht _astro/about.html _next/static/page.shtml
_nuxt/builds/latest.json my_next/static/old.js next/static/a.js _app/version.json _nextstatic/a.css _nuxt _astro
a.0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90.bin x.1a2b3c4.js x.12345678.js x-abcdefgh.js
index-BfTa1x_34.js index-BfTa1x_.js index_BfTa1x_3.js indexBfTa1x_3.js Beethoven_Op27.mp3 S01E02.mkv v1.2.3.zip 1984.epub
Ünï-cödé12.png 写真-20240102.jpg фото_2024.png resume-final2.doc Bachelor-Arbeit2.pdf covid19-data2021.csv section508.html
ISO8859-1.txt RFC2119.txt IEEE-802.11ac.pdf mp3-player2000.js utf8.js base64.js sha256.js md5.js h264.wasm
.js - . a. a
`
/** Not sure enough for a year, but for a week in an open tab. */
const EARLIER_ONLY = `
assets/index-CcIYShBm.css assets/Lazy-IQPYCrzu.js assets/s-CMNnYTV-.js assets/index-C_gcIYdA.js chunk-3F2A9C1D.mjs
main.3F2A9C1D.css chunk-ABCDEF23.js 2WQVZKQ6.js
`
const GONE = `
old.js component.js my-component.js my-Settings.js lib-TypeDefs.js old-page1.js script-v2.js jquery-3.7.1.min.js 20241105.js
app-20241105.js assets/photo-CcIYShBm.png index-CcIYShBm index-CcIYShBm.html player-version2.js style_v2.css index_CcIYShBm.css
x-abcdefgh.js x-ABCDEFGH.js index-DiwrgTda.css assets/guide_a.md.07ruxakP.lean.js index-CcIYShBm.js.map IMG_20240102.jpg
`
const names = (text: string): string[] => text.trim().split(/\s+/)

test('the table has at least 150 names', () => {
  expect(new Set([...names(HASHED), ...names(PLAIN)]).size).toBeGreaterThanOrEqual(150)
})

describe('has a content hash', () => {
  test.each(names(HASHED))('%s', (name) => {
    expect([hasContentHash(name), hasContentHash(`/a b/${name}`), mayBeOfEarlier(name)]).toEqual([
      true,
      true,
      true,
    ])
  })
})

describe('has none', () => {
  test.each(names(PLAIN))('%s', (name) => {
    expect([hasContentHash(name), hasContentHash(`/3f2a9c1d/${name}`)]).toEqual([false, false])
  })
})

describe('may be of an earlier deployment', () => {
  test.each(names(EARLIER_ONLY))('%s', (name) => {
    expect([hasContentHash(name), mayBeOfEarlier(name)]).toEqual([false, true])
  })
  test.each(names(GONE))('not %s', (name) => {
    expect(mayBeOfEarlier(name)).toBe(false)
  })
})

test('50,000 long names that almost have a hash take no time', () => {
  const stems = [
    'a-'.repeat(100),
    'Ab1'.repeat(60),
    'v1_'.repeat(60),
    `${'f0'.repeat(100)}-`,
    'aA_'.repeat(60),
  ]
  let hashed = 0
  for (let i = 0; i < 50_000; i++) if (mayBeOfEarlier(`${stems[i % 5]}${i}.js`)) hashed += 1
  expect(hashed).toBeLessThan(50_000)
})
