import { expect, test } from 'bun:test'

const PROGRAM = `
  import { processIo } from '${new URL('./io.ts', import.meta.url).href}'
  const io = processIo({})
  const lines = [await io.readPassword('Password: '), await io.readPassword('Again: ')]
  io.stdout.write(JSON.stringify({ lines, isTerminal: io.isTerminal }))
  io.stdout.write('x'.repeat(1_000_000))
  process.exit(7)
`

test.each([
  ['one\ntwo\nthree\n', ['one', 'two']],
  ['ö n e\r\ntwo', ['ö n e', 'two']],
  ['\nlast', ['', 'last']],
  ['', [null, null]],
])('passwords from a pipe: %p', async (input, lines) => {
  const child = Bun.spawn([process.execPath, '-e', PROGRAM], {
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect(await child.exited).toBe(7)
  expect(err).toBe('')
  expect(out).toBe(`${JSON.stringify({ lines, isTerminal: false })}${'x'.repeat(1_000_000)}`)
})
