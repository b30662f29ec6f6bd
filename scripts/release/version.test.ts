import { expect, test } from 'bun:test'
import { compareVersions, isVersion, preReleaseOf } from './version.ts'

test.each([
  ['0.0.0', true],
  ['1.2.3', true],
  ['1.2.3-rc.1', true],
  ['1.2.3-0a.b-c.0', true],
  ['1.2.3+build.007', true],
  ['1.2.3-rc.1+b', true],
  ['', false],
  ['1', false],
  ['1.2', false],
  ['v1.2.3', false],
  ['1.2.3.4', false],
  ['01.2.3', false],
  ['1.2.3-', false],
  ['1.2.3-01', false],
  ['1.2.3-a..b', false],
  ['1.2.3+', false],
  [' 1.2.3', false],
  ['1.2.3\n', false],
  ['1.2.3/../x', false],
  ['latest', false],
  [`1.2.${'3'.repeat(100)}`, false],
])('%p is a version: %p', (text, expected) => {
  expect(isVersion(text)).toBe(expected)
})

test('precedence is that of semver.org, in numbers of any length', () => {
  // §11 of the specification, and numbers that a double cannot hold.
  const ascending = [
    '0.9.10',
    '1.0.0-0',
    '1.0.0-9',
    '1.0.0-10',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.1.0',
    '1.10.0',
    '2.0.0',
    '9007199254740993.0.0',
    '9007199254740994.0.0',
  ]
  for (const [place, version] of ascending.entries())
    for (const [other, against] of ascending.entries())
      expect([version, against, Math.sign(compareVersions(version, against))]).toEqual([
        version,
        against,
        Math.sign(place - other),
      ])
})

test('the pre-release part', () => {
  expect(['1.2.3', '1.2.3+b-1', '1.2.3-rc.1+b'].map(preReleaseOf)).toEqual([undefined, undefined, 'rc.1'])
})
