import { expect, test } from 'bun:test'
import { contentTypeOf, isCompressible, isHtml, mimeTypeOf, runsAsPage } from './content-type.ts'

const cases: [path: string, contentType: string, compressible: boolean][] = [
  ['index.html', 'text/html; charset=utf-8', true],
  ['a/b.htm', 'text/html; charset=utf-8', true],
  ['INDEX.HTML', 'text/html; charset=utf-8', true],
  ['main.css', 'text/css; charset=utf-8', true],
  ['main.3f2a9c1d.js', 'text/javascript; charset=utf-8', true],
  ['main.mjs', 'text/javascript; charset=utf-8', true],
  ['main.cjs', 'text/javascript; charset=utf-8', true],
  ['data.json', 'application/json; charset=utf-8', true],
  ['main.js.map', 'application/json; charset=utf-8', true],
  ['data.ndjson', 'application/x-ndjson; charset=utf-8', true],
  ['data.jsonld', 'application/ld+json; charset=utf-8', true],
  ['places.geojson', 'application/geo+json; charset=utf-8', true],
  ['site.webmanifest', 'application/manifest+json; charset=utf-8', true],
  ['sitemap.xml', 'application/xml; charset=utf-8', true],
  ['feed.rss', 'application/rss+xml; charset=utf-8', true],
  ['feed.atom', 'application/atom+xml; charset=utf-8', true],
  ['page.xhtml', 'application/xhtml+xml; charset=utf-8', true],
  ['logo.svg', 'image/svg+xml; charset=utf-8', true],
  ['robots.txt', 'text/plain; charset=utf-8', true],
  ['README.md', 'text/markdown; charset=utf-8', true],
  ['table.csv', 'text/csv; charset=utf-8', true],
  ['openapi.yaml', 'application/yaml; charset=utf-8', true],
  ['captions.vtt', 'text/vtt; charset=utf-8', true],
  ['dates.ics', 'text/calendar; charset=utf-8', true],
  ['app.wasm', 'application/wasm', true],
  ['inter.ttf', 'font/ttf', true],
  ['inter.otf', 'font/otf', true],
  ['inter.eot', 'application/vnd.ms-fontobject', true],
  ['inter.woff', 'font/woff', false],
  ['inter.woff2', 'font/woff2', false],
  ['favicon.ico', 'image/x-icon', true],
  ['a.bmp', 'image/bmp', true],
  ['a.png', 'image/png', false],
  ['a.jpg', 'image/jpeg', false],
  ['a.JPEG', 'image/jpeg', false],
  ['a.gif', 'image/gif', false],
  ['a.webp', 'image/webp', false],
  ['a.avif', 'image/avif', false],
  ['a.jxl', 'image/jxl', false],
  ['a.mp3', 'audio/mpeg', false],
  ['a.ogg', 'audio/ogg', false],
  ['a.mp4', 'video/mp4', false],
  ['a.webm', 'video/webm', false],
  ['a.mov', 'video/quicktime', false],
  ['live.m3u8', 'application/vnd.apple.mpegurl', true],
  ['a.pdf', 'application/pdf', false],
  ['a.zip', 'application/zip', false],
  ['a.tar.gz', 'application/gzip', false],
  ['a.tar', 'application/x-tar', true],
  ['a.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', false],
  ['scene.gltf', 'model/gltf+json; charset=utf-8', true],
  ['scene.glb', 'model/gltf-binary', true],
  ['a.unknown', 'application/octet-stream', false],
  ['LICENSE', 'application/octet-stream', false],
  ['v1.html/download', 'application/octet-stream', false],
  ['a.', 'application/octet-stream', false],
  ['a.constructor', 'application/octet-stream', false],
  ['', 'application/octet-stream', false],
]

test.each(cases)('%p is %s, compressible: %p', (path, contentType, compressible) => {
  expect(contentTypeOf(path)).toBe(contentType)
  expect(mimeTypeOf(path)).toBe(contentType.replace('; charset=utf-8', ''))
  expect(isCompressible(contentTypeOf(path))).toBe(compressible)
  expect(isCompressible(mimeTypeOf(path))).toBe(compressible)
})

test.each([
  ['index.html', true],
  ['a/b.HTM', true],
  ['a.xhtml', true],
  ['html', false],
  ['a.html/b', false],
  ['a.html.js', false],
])('%s is HTML: %p', (path, expected) => {
  expect(isHtml(path)).toBe(expected)
})

test.each([
  ['a.html', true],
  ['a.xhtml', true],
  ['a.svg', true],
  ['a.xml', true],
  ['a.rss', true],
  ['a.js', false],
  ['a.txt', false],
  ['a.json', false],
  ['a.pdf', false],
  ['a', false],
])('%s runs as a page: %p', (path, expected) => {
  expect(runsAsPage(contentTypeOf(path))).toBe(expected)
})
