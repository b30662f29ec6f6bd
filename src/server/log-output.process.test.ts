import { afterEach, expect, test } from 'bun:test'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { makeDataDir, type ServerProcess, startServer } from '../testing/server-process.ts'

const data = makeDataDir()
let server: ServerProcess | undefined
afterEach(async () => {
  server?.signal('SIGKILL')
  await server?.exited
})

/** A command prefix that makes this file the server's output. */
const withOutput = (path: string): string[] => ['sh', '-c', 'exec "$@" >"$0"', path]

/** A few hundred kilobytes of lines, more than a pipe buffers. */
async function fillLog(url: string): Promise<number[]> {
  const statuses = new Set<number>()
  for (let i = 0; i < 300; i++) {
    const answer = await fetch(`${url}/${'x'.repeat(1000)}`, { headers: { host: 'nothing.localhost' } })
    await answer.body?.cancel()
    statuses.add(answer.status)
  }
  return [...statuses]
}

const serving = async ({ url }: ServerProcess) => (await fetch(`${url}/api/health`)).status

test('a server starts, serves and stops properly while the disk of its log is full', async () => {
  server = await startServer(data.path, {}, withOutput('/dev/full'))
  expect(await fillLog(server.url)).toEqual([404])
  expect(await serving(server)).toBe(200)
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
})

test('a server serves and stops properly when nobody reads its log any more', async () => {
  const pipe = join(data.path, 'log-pipe')
  Bun.spawnSync(['mkfifo', pipe])
  // Opened, so that the pipe has a reader, but never read.
  const reader = openSync(pipe, constants.O_RDWR)
  server = await startServer(data.path, {}, withOutput(pipe))
  expect(await fillLog(server.url)).toEqual([404])
  expect(await serving(server)).toBe(200)
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
  closeSync(reader)
  data.remove()
})
