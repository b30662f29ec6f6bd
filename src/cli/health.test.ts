import { expect, test } from 'bun:test'
import type { Commands, Io } from './command.ts'
import { healthCommand } from './health.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

async function health(args: string[], env: Io['env'] = {}): Promise<{ code: number; err: string }> {
  const io = testIo({ env })
  const commands: Commands = { health: () => healthCommand }
  return { code: await runCommand(commands, ['health', ...args], io, 'health'), err: io.err() }
}

/** A server that answers `/api/health` so, for the length of `work`. */
async function withAnswer<T>(status: number, body: unknown, work: (port: string) => Promise<T>): Promise<T> {
  const answer = (request: Request) =>
    new URL(request.url).pathname === '/api/health'
      ? Response.json(body, { status })
      : Response.json({ status: 'ok' })
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  try {
    return await work(String(server.port))
  } finally {
    await server.stop(true)
  }
}

const answers: [status: number, body: unknown, code: number][] = [
  [200, { status: 'ok' }, 0],
  [503, { status: 'error', checks: { storage: 'disk full' } }, 1],
  [200, { status: 'error' }, 1],
  [200, 'a page of somebody else', 1],
  [302, { status: 'ok' }, 1],
]

test.each(answers)('an answer %p %p ends with %p', async (status, body, code) => {
  const output = await withAnswer(status, body, (port) => health([], { PORT: port }))
  expect(output.code).toBe(code)
})

test('the reason of a failure is shown', async () => {
  const body = { status: 'error', checks: { storage: 'disk full' } }
  const output = await withAnswer(503, body, (port) => health(['--port', port]))
  expect(output.err).toContain('disk full')
})

test('nobody there ends with 1', async () => {
  const port = await withAnswer(200, {}, async (port) => port)
  const output = await health(['--port', port])
  expect(output.code).toBe(1)
  expect(output.err).toContain(`http://127.0.0.1:${port} is not well: nothing listens there (ECONNREFUSED)`)
})

test('a word beside the flags is wrong usage', async () => {
  expect((await health(['now'])).code).toBe(2)
})

test('a bad port is a bad configuration', async () => {
  expect((await health([], { PORT: 'many' })).code).toBe(78)
})
