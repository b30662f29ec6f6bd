import { expect, test } from 'bun:test'
import { isAllowedType, typeOfFile } from './types.ts'

test.each<[string | null, string, string]>([
  ['image/png', 'a.png', 'image/png'],
  ['Image/PNG; charset=x', 'a', 'image/png'],
  ['application/octet-stream', 'a.png', 'image/png'],
  [null, 'a.mp4', 'video/mp4'],
  [null, 'a.unknown-ending', 'application/octet-stream'],
  ['no type', 'a.css', 'text/css'],
  ['text/html\r\nx: y', 'a.png', 'image/png'],
])('%j on %s is kept as %s', (declared, name, type) => {
  expect(typeOfFile(declared, name)).toBe(type)
})

test.each<[string[], string | null, string, boolean]>([
  [['*/*'], null, 'a.html', true],
  [['image/*'], 'image/png', 'a.png', true],
  [['image/*'], 'image/png', 'a', true],
  [['image/*'], null, 'a.png', true],
  [['image/png'], 'IMAGE/PNG;q=1', 'a.png', true],
  [['image/*'], 'image/png', 'a.html', false],
  [['image/*'], 'text/html', 'a.png', false],
  [['image/*'], 'application/octet-stream', 'a.png', false],
  [['image/*'], 'application/octet-stream', 'a', false],
  [['image/*'], null, 'a', false],
  [['image/png'], 'image/pngx', 'a.png', false],
  [['image/*'], 'imagex/png', 'a.png', false],
  [[], 'image/png', 'a.png', false],
])('%j and %j on %s: %p', (allowed, declared, name, isAllowed) => {
  expect(isAllowedType(allowed, declared, name)).toBe(isAllowed)
})
