import { describe, expect, test } from 'bun:test'
import { deploymentName, parseDeploymentNumber, titleOf } from './deployment-name.ts'

test('a deployment is named by its number, and its title if it has one', () => {
  expect(deploymentName({ number: 12, title: 'New prices' })).toBe('#12 New prices')
  expect(deploymentName({ number: 12, title: null })).toBe('#12')
})

describe('the title is the first line of the description', () => {
  const titles: [description: string | null, title: string | null][] = [
    ['New prices', 'New prices'],
    ['New prices\n\nThey hold from May.', 'New prices'],
    ['one\r\ntwo', 'one'],
    ['one\rtwo', 'one'],
    ['one\u2028two', 'one'],
    ['  spaces  ', 'spaces'],
    ['a\tb\u0000c\u0085d\u007f', 'a b c d'],
    ['safe \u202Ereversed\u2066', 'safe  reversed'],
    ['<b>bold</b> & "quoted"', '<b>bold</b> & "quoted"'],
    ['👨‍👩‍👧 family', '👨‍👩‍👧 family'],
    ['\nsecond line', null],
    ['\u0001\t', null],
    ['', null],
    [null, null],
    ['x'.repeat(120), 'x'.repeat(120)],
    ['x'.repeat(121), `${'x'.repeat(119)}…`],
    ['😀'.repeat(10_000), `${'😀'.repeat(119)}…`],
    ['half \uD83D', 'half \uFFFD'],
  ]
  test.each(titles)('%j', (description, title) => {
    expect(titleOf(description)).toBe(title)
  })
})

test.each([
  ['1', 1],
  ['12', 12],
  ['99999999999', 99_999_999_999],
  ['0', undefined],
  ['012', undefined],
  ['#12', undefined],
  ['1e3', undefined],
  ['-1', undefined],
  ['1.0', undefined],
  [' 1', undefined],
  ['１', undefined],
  ['9'.repeat(16), undefined],
  ['', undefined],
] as const)('the number in %j is %p', (text, number) => {
  expect(parseDeploymentNumber(text)).toBe(number)
})
