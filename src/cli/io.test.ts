import { expect, test } from 'bun:test'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dir, 'io.child.ts')

test.each([
  ['one\ntwo\nthree\n', ['one', 'two']],
  ['ö n e\r\ntwo', ['ö n e', 'two']],
  ['\nlast', ['', 'last']],
  ['', [null, null]],
])('passwords from a pipe: %p', async (input, lines) => {
  const child = Bun.spawn([process.execPath, PROGRAM], {
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect(await child.exited).toBe(7)
  expect(err).toBe('')
  expect(out).toBe(`${JSON.stringify({ lines, isTerminal: false })}${'x'.repeat(1_000_000)}`)
})
