import { expect, test } from 'bun:test'
import { notesOf } from './changelog.ts'

const CHANGELOG = `# Changelog

## [Unreleased]

- Not yet

## [1.2.0-rc.1] - 2026-01-02

### Added

- A thing

## 1.1.0

- Another

## [1.0.0]
`

test.each([
  ['1.2.0-rc.1', '### Added\n\n- A thing'],
  ['1.1.0', '- Another'],
  ['1.0.0', ''],
  ['1.2.0', ''],
  ['0.9.0', ''],
])('the notes of %s', (version, notes) => {
  expect(notesOf(CHANGELOG, version)).toBe(notes)
  expect(notesOf(CHANGELOG.replaceAll('\n', '\r\n'), version)).toBe(notes)
})
