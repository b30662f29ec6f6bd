import { expect, test } from 'bun:test'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dir, 'stray-errors.child.ts')

test('uncaught errors are logged, and the process continues', async () => {
  const child = Bun.spawn([process.execPath, PROGRAM], { stdout: 'pipe', stderr: 'pipe' })
  const [out, complaints] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  const lines = out.split('\n')
  expect(lines.at(-1)).toBe('still here')
  const messages = lines.slice(0, -1).map((line) => JSON.parse(line).error.error.split('\n')[0])
  expect([messages, complaints, child.exitCode]).toEqual([['Error: thrown', 'Error: rejected'], '', 0])
})
