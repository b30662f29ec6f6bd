import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDb } from '../db/open.ts'
import { freePort, makeDataDir, runSvc, startServer } from '../testing/server-process.ts'

const ended: (() => void)[] = []
afterAll(() => {
  for (const end of ended) end()
})

/** Alone with the database, or only alone in writing to it. */
type Hold = 'EXCLUSIVE' | 'IMMEDIATE'

/** A data directory whose database this process keeps to itself until `release`. */
function heldDataDir(hold: Hold = 'EXCLUSIVE'): { path: string; release(): void } {
  const data = makeDataDir()
  const file = join(data.path, 'svc.db')
  openDb(file, Date.now()).close()
  const holder = new Database(file)
  if (hold === 'EXCLUSIVE') holder.run('PRAGMA locking_mode = EXCLUSIVE')
  holder.run(`BEGIN ${hold}`)
  ended.push(() => {
    holder.close()
    data.remove()
  })
  return {
    path: data.path,
    release() {
      holder.run('COMMIT')
      holder.close()
    },
  }
}

const COMMANDS: readonly (readonly string[])[] = [
  ['key', 'create', 'ci'],
  ['key', 'rotate-secret'],
  ['admin', 'create', 'ann@example.com'],
  ['check'],
  ['backup', '/tmp/svc-locked-backup.tar'],
]

const run = (args: readonly string[], dataDir: string) =>
  runSvc([...args, '--data-dir', dataDir], { stdin: 'correct horse battery\n' })

test('the server and every command wait for a locked database, then say who should be let finish, and end with 75', async () => {
  const serve = ['serve', '--host', '127.0.0.1', '--port', String(freePort())]
  const ended = (hold: Hold, calls: readonly (readonly string[])[]) =>
    calls.map(async (args) => ({ args, ...(await run(args, heldDataDir(hold).path)) }))
  // A backup reads beside whoever writes.
  const writing = COMMANDS.filter(([name]) => name !== 'backup')
  const results = await Promise.all([
    ...ended('EXCLUSIVE', [serve, ...COMMANDS]),
    ...ended('IMMEDIATE', [serve, ...writing]),
  ])
  for (const { args, code, stderr } of results)
    expect([args, code, stderr]).toEqual([
      args,
      75,
      expect.stringMatching(
        new RegExp(
          `^svc ${args[0]}: \\S+svc\\.db is locked by \\S+ \\(process ${process.pid}\\), also after 30 s: let that finish`,
        ),
      ),
    ])
}, 120_000)

test('they do their work when the lock is released in time', async () => {
  const dirs = [...COMMANDS, ['serve']].map(() => heldDataDir())
  const commands = COMMANDS.map((args, i) => run(args, dirs[i]?.path ?? ''))
  const server = startServer(dirs.at(-1)?.path ?? '')
  await Bun.sleep(2_000)
  for (const { release } of dirs) release()
  expect((await Promise.all(commands)).map(({ code }) => code)).toEqual(COMMANDS.map(() => 0))
  const { signal, exited } = await server
  signal('SIGTERM')
  expect(await exited).toBe(0)
}, 120_000)

test('a server and commands that start at once on a new directory all find it well', async () => {
  const data = makeDataDir()
  ended.push(data.remove)
  const emails = ['a@example.com', 'b@example.com', 'c@example.com']
  const commands = emails.map((email) => run(['admin', 'create', email], data.path))
  const server = await startServer(data.path)
  ended.push(() => server.signal('SIGKILL'))
  expect((await Promise.all(commands)).map(({ code, stderr }) => [code, stderr])).toEqual(
    emails.map((email) => [0, expect.stringContaining(email)]),
  )
  expect((await run(['check'], data.path)).code).toBe(0)
  const second = await run(['serve', '--port', '0'], data.path)
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('another svc serves')])
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
}, 120_000)
