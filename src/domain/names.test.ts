import { expect, test } from 'bun:test'
import { isTitle } from './names.ts'

test.each(['Docs', 'Größe & Co.', '文档', 'a', '👩‍🚀 crew', 'خانه', ' Docs '])('%p is a title', (text) => {
  expect(isTitle(text)).toBe(true)
})

test.each([
  '',
  ' ',
  '\u00a0',
  '\u200b',
  '\u00ad\u2060',
  'a\nb',
  'a\u0000b',
  'a\u007f',
  'a\u0085b',
  'a\u202eb',
  'a\u2066b',
])('%j is none', (text) => {
  expect(isTitle(text)).toBe(false)
})
