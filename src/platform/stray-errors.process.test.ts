import { expect, test } from 'bun:test'

const PROGRAM = `
  import { createLog } from '${import.meta.dir}/log.ts'
  import { logStrayErrors } from '${import.meta.dir}/stray-errors.ts'
  const write = (line) => process.stdout.write(line)
  logStrayErrors(createLog({ level: 'error', format: 'json', now: Date.now, write }))
  const later = (work) => setImmediate(() => setTimeout(work, 1))
  // Nested timers: timers that are due together all run before a rejection is reported.
  later(() => {
    later(() => {
      later(() => process.stdout.write('still here'))
      Promise.reject(new Error('rejected'))
    })
    throw new Error('thrown')
  })
`

test('uncaught errors are logged, and the process continues', async () => {
  const child = Bun.spawn([process.execPath, '-e', PROGRAM], { stdout: 'pipe', stderr: 'pipe' })
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
