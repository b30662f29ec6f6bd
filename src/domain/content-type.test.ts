import { expect, test } from 'bun:test'
import { types } from 'mime-types'
import { TRAIT, traitsOf, UNKNOWN_TRAITS } from './content-traits.ts'
import {
  contentTypeOf,
  isCompressible,
  isHtml,
  isWorthCompressing,
  mimeTypeOf,
  runsAsPage,
  storedCodedOf,
} from './content-type.ts'

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
  expect(contentTypeOf(path, TRAIT.utf8)).toBe(contentType)
  expect(contentTypeOf(path, UNKNOWN_TRAITS)).toBe(contentType.replace('; charset=utf-8', ''))
  expect(mimeTypeOf(path)).toBe(contentType.replace('; charset=utf-8', ''))
  expect(isCompressible(contentType)).toBe(compressible)
  expect(isCompressible(mimeTypeOf(path))).toBe(compressible)
})

test.each([
  ['index.html', true],
  ['a/b.HTM', true],
  ['a.xhtml', true],
  ['a.XHT', true],
  ['a.shtml', true],
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
  expect(runsAsPage(contentTypeOf(path, TRAIT.utf8))).toBe(expected)
})

const named: [type: string, extensions: string][] = [
  [
    'text/plain',
    'sh bash zsh py rb go rs kt swift lua sql c h cpp java vue svelte astro diff patch rst adoc bib pem asc',
  ],
  ['application/x-apple-aspen-config', 'mobileconfig'],
  ['application/x-ipynb+json', 'ipynb'],
  ['application/json', 'topojson czml har map'],
  ['image/vnd.radiance', 'hdr'],
  ['image/svg+xml', 'svg svgz'],
  ['video/mp2t', 'ts'],
  ['application/vnd.apple.pkpass', 'pkpass'],
  ['application/x-x509-ca-cert', 'der crt'],
  ['application/pkcs8', 'p8'],
  ['application/x-shockwave-flash', 'swf'],
  ['model/vnd.usdz+zip', 'usdz'],
  ['application/geo+json', 'geojson'],
  ['application/xml-dtd', 'dtd'],
  ['application/x-java-jnlp-file', 'jnlp'],
]
test.each(named.flatMap(([type, extensions]) => extensions.split(' ').map((one) => [one, type] as const)))(
  'a.%s is %s',
  (extension, type) => {
    expect(mimeTypeOf(`a.${extension}`)).toBe(type)
    expect(mimeTypeOf(`b/A.${extension.toUpperCase()}`)).toBe(type)
  },
)

test('where we have no type of our own, it is the one that mime-types takes', () => {
  const differing = Object.entries(types).filter(([extension, type]) => mimeTypeOf(`a.${extension}`) !== type)
  expect(differing.map(([extension]) => extension).toSorted()).toEqual(OURS)
})

const OURS = [
  ...['asc', 'c', 'cjs', 'cpp', 'flac', 'h', 'ico', 'java', 'jfif', 'lua'],
  ...['m4v', 'opus', 'pem', 'rs', 'sh', 'sql', 'vcf', 'yaml', 'yml'],
]

const BY_BYTES: [path: string, content: string | Uint8Array, contentType: string][] = [
  ['LICENSE', 'Free for all', 'text/plain; charset=utf-8'],
  ['LICENSE', 'Grüße', 'text/plain; charset=utf-8'],
  ['LICENSE', Buffer.from('Grüße', 'latin1'), 'application/octet-stream'],
  ['LICENSE', '', 'text/plain; charset=utf-8'],
  ['notes', 'a\tb\r\nc\fd', 'text/plain; charset=utf-8'],
  ['notes', 'a\vb', 'application/octet-stream'],
  ['notes', 'a\u0000b', 'application/octet-stream'],
  ['notes', '\u001b[1mbold', 'application/octet-stream'],
  ['notes', 'a\u007fb', 'application/octet-stream'],
  ['notes', 'a\u0085b', 'application/octet-stream'],
  ['page', '<!doctype html><script>alert(1)</script>', 'text/plain; charset=utf-8'],
  ['v1.2', 'text of an unknown extension', 'text/plain; charset=utf-8'],
  ['a.unknown', Uint8Array.of(0, 1, 2), 'application/octet-stream'],
  ['data', '{"a": 1}', 'text/plain; charset=utf-8'],
  ['apple-app-site-association', '{"applinks": {}}', 'application/json; charset=utf-8'],
  ['/apple-app-site-association', '[]', 'application/json; charset=utf-8'],
  ['sub/apple-app-site-association', '{}', 'text/plain; charset=utf-8'],
  ['/.well-known/apple-app-site-association', '{}', 'application/json; charset=utf-8'],
  ['.well-known/openid-configuration', '{}', 'application/json; charset=utf-8'],
  ['.well-known/a/b', '[1]', 'application/json; charset=utf-8'],
  ['.well-known/webfinger', '{}', 'application/jrd+json; charset=utf-8'],
  ['.well-known/host-meta', '<XRD/>', 'application/xrd+xml; charset=utf-8'],
  ['.well-known/host-meta', '{}', 'application/json; charset=utf-8'],
  ['.well-known/other', '<x/>', 'application/xml; charset=utf-8'],
  ['.well-known/other', ' {}', 'text/plain; charset=utf-8'],
  ['.well-known/other', Buffer.from('{"ü": 1}', 'latin1'), 'application/json'],
  ['.well-known/security.txt', '{}', 'text/plain; charset=utf-8'],
  ['.well-known/acme', 'token', 'text/plain; charset=utf-8'],
  ['a.html', Buffer.from('<meta charset=iso-8859-1>Grüße', 'latin1'), 'text/html'],
  ['a.html', '<p>Grüße', 'text/html; charset=utf-8'],
  ['a.html', '\u001b$B$"', 'text/html'],
  ['a.html', 'a\u0000b', 'text/html; charset=utf-8'],
  ['a.html', Buffer.from('\ufeff<p>', 'utf16le'), 'text/html'],
  ['a.html', '\ufeff<p>', 'text/html; charset=utf-8'],
  ['a.html', '', 'text/html; charset=utf-8'],
  ['a.html', Uint8Array.of(0xff), 'text/html'],
  ['a.png', 'text', 'image/png'],
]
test.each(BY_BYTES)('%s with %p is %s', (path, content, expected) => {
  expect(contentTypeOf(path, traitsOf(Buffer.from(content)))).toBe(expected)
})

test.each([
  ['a.js.gz', 'gzip', 'a.js'],
  ['Build/App.WASM.GZ', 'gzip', 'Build/App.WASM'],
  ['a.data.br', 'br', 'a.data'],
  ['a.symbols.json.br', 'br', 'a.symbols.json'],
  ['a.symbols.json.gz', 'gzip', 'a.symbols.json'],
  ['a.svgz', 'gzip', null],
] as const)('%s is stored as %s of %s, and not compressed again', (path, coding, innerPath) => {
  expect(storedCodedOf(path)).toEqual({ coding, innerPath })
  expect(isWorthCompressing(path, TRAIT.utf8 | TRAIT.text)).toBe(false)
})

test.each(['a.tar.gz', 'a.json.gz', 'a.css.gz', 'a.html.br', 'js.gz', 'a.gz', 'a.js', 'a.js.zip'])(
  '%s is what it is',
  (path) => expect(storedCodedOf(path)).toBeUndefined(),
)
