import { expect, test } from 'bun:test'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dir, 'io.child.ts')

test.each([
  ['one\ntwo\nthree\n', ['one', 'two']],
  ['ö n e\r\ntwo', ['ö n e', 'two']],
  ['\nlast', ['', 'last']],
  ['', [null, null]],
  ['\ufeffone\r\ntwo', ['one', 'two']],
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

test.each([
  ['with a mark', `\ufeffgeheim geheim\r\n`],
  ['without one', 'geheim geheim\n'],
])('a password in UTF-16 %s is refused by that name', async (_name, input) => {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, '..', 'main.ts'), 'admin', 'create', 'a@b.example'],
    {
      stdin: new Blob([Buffer.from(input, 'utf16le')]),
      env: { DATA_DIR: join(import.meta.dir, 'not-there') },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const said = await new Response(child.stderr).text()
  expect([await child.exited, said]).toEqual([
    1,
    'svc admin: what arrives on stdin is written in UTF-16; save it as UTF-8\n',
  ])
})
