import { expect, test } from 'bun:test'
import { testIo } from '../testing/test-io.ts'
import { createProgress, describeAmount, formatBytes } from './progress.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [12_345, '12.3 kB'],
  [999_949, '999.9 kB'],
  [999_950, '1.0 MB'],
  [4_500_000_000, '4.5 GB'],
])('%i bytes are %p', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test.each([
  [{ files: 1, bytes: 3 }, '1 file, 3 B'],
  [{ files: 2, bytes: 0 }, '2 files'],
])('%p is %p', (amount, text) => {
  expect(describeAmount(amount)).toBe(text)
})

test('a bar shows share, bytes, files and rate', () => {
  let clockMs = 0
  const io = testIo({ isTerminal: true, nowMs: () => clockMs })
  const progress = createProgress(io)
  progress.begin('sending', { bytes: 2_000_000, files: 4 })
  clockMs = 500
  progress.add(1_000_000, 1)
  progress.end()
  expect(io.err()).toBe(
    '\r\x1b[K\r\x1b[K[############............]  50 % sending 1.0 MB of 2.0 MB, 1/4 files, 2.0 MB/s\r\x1b[K',
  )
})

test('elsewhere a line at the start and one now and then', () => {
  let clockMs = 0
  const io = testIo({ nowMs: () => clockMs })
  const progress = createProgress(io)
  progress.begin('sending', { bytes: 2_000_000, files: 4 })
  for (clockMs = 1_000; clockMs <= 11_000; clockMs += 1_000) progress.add(100_000, 0)
  expect(io.err()).toBe('sending 4 files, 2.0 MB\nsending 1.0 MB of 2.0 MB, 0/4 files, 100.0 kB/s\n')
})
