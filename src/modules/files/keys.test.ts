import { expect, test } from 'bun:test'
import { cleanName, fileKey, filePath, fileUrl, newFilePath, pathOfKey } from './keys.ts'

const project = { owner: 'acme', name: 'docs' }
const FOLDER_BYTES = Buffer.byteLength('acme/docs/uploads/')

test.each([
  ['videos', 'videos'],
  [' /videos/1/ ', 'videos/1'],
  ['a..b', 'a..b'],
  ['...', '...'],
  ['e\u0301', '\u00e9'],
  ['%2e%2e/x', '%2e%2e/x'],
  ['a%2fb', 'a%2fb'],
  ['a b', 'a b'],
  ['x'.repeat(1024 - FOLDER_BYTES), 'x'.repeat(1024 - FOLDER_BYTES)],
])('%j is the path %j', (text, path) => {
  expect(filePath(project, text)).toBe(path)
  expect(pathOfKey(project, fileKey(project, path))).toBe(path)
})

test.each([
  '',
  ' / ',
  '/',
  '.',
  '..',
  'a/../b',
  '../b',
  'a/..',
  'a/./b',
  'a//b',
  'a\\b',
  '..\\b',
  'a\0b',
  'a\nb',
  'a\u0085b',
  '\ud800',
  'x'.repeat(1025 - FOLDER_BYTES),
  'ü'.repeat(512),
])('%j is no path, and no part of one', (text) => {
  expect(() => filePath(project, text)).toThrow(expect.objectContaining({ code: 'INVALID_PATH' }))
  expect(() => filePath(project, 'ok', text)).toThrow(expect.objectContaining({ code: 'INVALID_PATH' }))
  expect(pathOfKey(project, fileKey(project, text))).toBeNull()
})

test.each([
  'acme/docs2/uploads/a',
  'acme/other/uploads/a',
  'acme/docs/uploadsx/a',
  'Acme/docs/uploads/a',
  '/acme/docs/uploads/a',
  'acme/docs/uploads//a',
  'acme/docs/uploads/a/',
  'acme/docs/uploads/e\u0301',
  'acme/docs/uploads/',
  '',
])('%j is no key of the project', (key) => {
  expect(pathOfKey(project, key)).toBeNull()
})

test.each([
  ['My Photo (1).png', 'My_Photo__1_.png'],
  ['../../etc/passwd', '.._.._etc_passwd'],
  ['C:\\a\\b.txt', 'C__a_b.txt'],
  ['a"\r\nb', 'a___b'],
  ['日本.txt', '__.txt'],
  [`${'a'.repeat(300)}.png`, `${'a'.repeat(146)}.png`],
  ['', 'file'],
])('the name %j is kept as %j', (original, name) => {
  expect(cleanName(original)).toBe(name)
})

test('a new path has the folder, the date in UTC where asked for, a random id and the name', () => {
  const ctx = { now: () => Date.parse('2026-11-28T23:59:59.999Z') }
  const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
  const of = (dateBucket: boolean) =>
    newFilePath(ctx, project, { subDir: '/pictures/', originalName: 'A b.png', dateBucket })
  expect(of(false).path).toMatch(new RegExp(`^pictures/${uuid}-A_b\\.png$`))
  expect(of(true).path).toMatch(new RegExp(`^pictures/2026-11-28/${uuid}-A_b\\.png$`))
  expect(of(true).filename).toBe('A_b.png')
  expect(of(true).path).not.toBe(of(true).path)
})

test('the address has each segment encoded', () => {
  expect(fileUrl('a b/ü?.png')).toBe('/api/uploads/a%20b/%C3%BC%3F.png')
})
