import { expect, test } from 'bun:test'
import { testIo } from '../testing/test-io.ts'
import { writeResults } from './test.ts'

test('what a test is called and what came of it cannot steer the terminal', () => {
  const io = testIo()
  const steering = 'a\u001b[31mb\nc'
  const result = { file: `${steering}.yaml`, line: 3, name: steering }
  const problem = { file: steering, line: 1, column: 1, message: steering }
  writeResults(
    [
      { ...result, failure: steering },
      { ...result, failure: null },
    ],
    [problem],
    io,
  )
  expect(io.out()).toBe(
    'FAIL  a [31mb c.yaml:3:1 a [31mb c: a [31mb c\npass  a [31mb c.yaml: a [31mb c\n1 test passed, 1 failed\n',
  )
  expect(io.err()).toBe('a [31mb c:1:1 a [31mb c\n')
})
