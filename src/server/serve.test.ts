import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'
import { until } from '../testing/until.ts'

const running: ServerProcess[] = []
const folders: { remove(): void }[] = []

afterEach(async () => {
  for (const server of running.splice(0)) {
    server.signal('SIGKILL')
    await server.exited
  }
  for (const folder of folders.splice(0)) folder.remove()
})

function dataDir(): string {
  const folder = makeDataDir()
  folders.push(folder)
  return folder.path
}

async function start(path: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startServer(path, env)
  running.push(server)
  return server
}

/** New connections are refused shortly after the signal. */
const untilRefused = (server: ServerProcess) =>
  until('connections to be refused', async () => {
    const answer = await fetch(`${server.url}/api/health`).catch(() => undefined)
    await answer?.body?.cancel()
    return answer === undefined
  })

const status = async (server: ServerProcess) => (await fetch(`${server.url}/api/setup/status`)).json()

test('a bad setting stops the start with 78 and one line that names it', async () => {
  const { code, stdout, stderr } = await runSvc(['serve'], { env: { PORT: 'http' } })
  expect(code).toBe(78)
  expect(stdout).toBe('')
  expect(stderr).toBe('svc serve: PORT is "http", but must be a whole number from 0 to 65535\n')
})

test.each([
  [
    'serve',
    'svc.db',
    'not a database, but long enough to be read as one '.repeat(30),
    'cannot be opened as the database',
  ],
  ['check', 'svc.db', 'not a database, but long enough to be read as one '.repeat(30), 'database_damaged'],
  ['serve', 'secret.key', 'short\n', 'does not hold 32-byte keys in base64, one a line'],
])('svc %s with a broken %s reports the problem in one line', async (command, file, content, message) => {
  const path = dataDir()
  await Bun.write(join(path, file), content)
  const { code, stdout, stderr } = await runSvc([command], { env: { DATA_DIR: path } })
  expect(code).toBe(1)
  expect(stdout + stderr).toContain(message)
  expect(`${stdout}${stderr}`.trimEnd().split('\n').length).toBeLessThanOrEqual(2)
})

test('a database of a newer version is left alone, with one line that says so', async () => {
  const path = dataDir()
  const sqlite = new Database(join(path, 'svc.db'), { create: true })
  sqlite.run('CREATE TABLE schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT')
  sqlite.run("INSERT INTO schema_migrations VALUES ('9999_future', 1)")
  sqlite.close()
  const { code, stderr } = await runSvc(['serve'], { env: { DATA_DIR: path, PORT: '0' } })
  expect([code, stderr]).toEqual([
    1,
    'svc serve: the database was written by a newer svc (migration 9999_future): run that version or newer\n',
  ])
})

test('its files are readable by its own user only', async () => {
  const path = dataDir()
  chmodSync(path, 0o755)
  const server = await start(path)
  await fetch(`${server.url}/api/health`)
  const open = readdirSync(path).filter((name) => (statSync(join(path, name)).mode & 0o077) !== 0)
  expect(open).toEqual([])
})

test('a data directory that cannot be created is a bad setting', async () => {
  const path = join(dataDir(), 'taken')
  await Bun.write(path, '')
  const { code, stderr } = await runSvc(['serve'], { env: { DATA_DIR: path } })
  expect(code).toBe(78)
  expect(stderr).toStartWith(`svc serve: DATA_DIR is "${path}", but must be a folder`)
  expect(stderr.trimEnd()).not.toContain('\n')
})

test('prints its address and, until there is an admin, the set-up link', async () => {
  const path = dataDir()
  const server = await start(path, { SETUP_TOKEN: 'claim-me' })
  expect(server.output()).toContain('serves http://localhost:')
  await until('the link', () => server.output().includes('/setup?token=claim-me'))
  const admin = await fetch(`${server.url}/api/setup/complete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'root@example.com', password: 'correct horse battery' }),
  })
  expect(admin.status).toBe(201)
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)

  const again = await start(path, { SETUP_TOKEN: 'claim-me' })
  expect(again.output()).not.toContain('/setup')
  expect(await status(again)).toMatchObject({ hasAdminUser: true })
})

test('warns that a proxy in front is not trusted', async () => {
  const warned = async (trusted: Record<string, string>) => {
    const env = { BASE_DOMAIN: 'sites.test', PUBLIC_URL: 'https://admin.sites.test', ...trusted }
    // A command prefix sets the port, which is not the one printed here.
    const server = await startServer(dataDir(), env, ['env'])
    running.push(server)
    await until('the start', () => server.output().includes(' serves https://admin.sites.test'))
    return server.output().includes('TRUST_PROXY names no proxy')
  }
  expect(await warned({})).toBe(true)
  expect(await warned({ TRUST_PROXY: '127.0.0.1/32' })).toBe(false)
})

test('the set-up link accepts a token with any characters', async () => {
  const token = '+a/b= &c#'
  const server = await start(dataDir(), { SETUP_TOKEN: token })
  const link = await until('the link', () => /http\S+\/setup\S*/.exec(server.output())?.[0])
  expect(new URL(link).searchParams.get('token')).toBe(token)
})

test('ADMIN_EMAIL and ADMIN_PASSWORD create the first admin', async () => {
  const server = await start(dataDir(), {
    ADMIN_EMAIL: 'root@example.com',
    ADMIN_PASSWORD: 'correct horse battery',
  })
  expect(await status(server)).toMatchObject({ isSetupComplete: true, hasAdminUser: true })
})

test('svc admin create works while the server is running', async () => {
  const path = dataDir()
  const server = await start(path)
  const made = await runSvc(['admin', 'create', 'root@example.com', '--data-dir', path], {
    stdin: 'correct horse battery\n',
  })
  expect(made).toMatchObject({ code: 0, stdout: '' })
  expect(await status(server)).toMatchObject({ hasAdminUser: true })
  const short = await runSvc(['admin', 'create', 'two@example.com', '--data-dir', path], { stdin: 'short\n' })
  expect(short).toMatchObject({ code: 1 })
  const reset = await runSvc(['admin', 'reset-password', 'root@example.com', '--data-dir', path], {
    stdin: 'another good one\n',
  })
  expect(reset).toMatchObject({ code: 0 })
  const signin = await fetch(`${server.url}/api/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'root@example.com', password: 'another good one' }),
  })
  expect(signin.status).toBe(200)
})

test('a second server on the same data directory is rejected', async () => {
  const path = dataDir()
  await start(path)
  const second = await runSvc(['serve'], { env: { DATA_DIR: path, PORT: '0', HOST: '127.0.0.1' } })
  expect(second.code).toBe(1)
  expect(second.stderr).toContain('another svc serves')
})

test('HOST=192.0.2.1, which is not this machine, stops the start', async () => {
  const run = await runSvc(['serve'], { env: { DATA_DIR: dataDir(), PORT: '0', HOST: '192.0.2.1' } })
  expect(run.code).toBe(78)
  expect(run.stderr).toContain('HOST is "192.0.2.1", but must be an address or name of this machine')
})

test('HOST=nothing.invalid stops the start: for good if the name does not exist, else to be tried again', async () => {
  const code = await Bun.dns
    .lookup('nothing.invalid', { backend: 'getaddrinfo' })
    .then(String, (error) => error.code)
  const run = await runSvc(['serve'], { env: { DATA_DIR: dataDir(), PORT: '0', HOST: 'nothing.invalid' } })
  // A machine that reaches no name server does not know.
  expect(run.code).toBe(code === 'DNS_ENOTFOUND' ? 78 : 1)
  expect(run.stderr).toContain('nothing.invalid')
  expect(run.stderr).toContain(`(${code})`)
})

test('after kill -9 the data directory is free again', async () => {
  const path = dataDir()
  const server = await start(path)
  server.signal('SIGKILL')
  await server.exited
  await start(path)
})

test('SIGHUP, a reload for supervisors, leaves the server running and says that nothing is reloaded', async () => {
  const path = dataDir()
  // Closing a terminal ends the server, and in a test run stderr may be a terminal.
  const server = await startServer(path, {}, ['sh', '-c', 'exec "$@" 2>/dev/null', 'sh'])
  running.push(server)
  server.signal('SIGHUP')
  await until('the line in the log', () => server.output().includes('SIGHUP: settings stay'))
  expect(await status(server)).toMatchObject({ hasAdminUser: false })
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
})

test('SIGTERM lets a running request finish, refuses new ones and exits 0', async () => {
  const server = await start(dataDir())
  const body = JSON.stringify({ email: 'root@example.com', password: 'correct horse battery' })
  const { port } = new URL(server.url)
  const received: string[] = []
  const closed = Promise.withResolvers<void>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(port),
    socket: {
      data: (_socket, bytes) => void received.push(bytes.toString()),
      close: () => closed.resolve(),
    },
  })
  socket.write(
    `POST /api/setup/complete HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  // The event loop handles arrivals in order: after two more responses it has read the head.
  for (let i = 0; i < 2; i++) await status(server)
  server.signal('SIGTERM')
  await untilRefused(server)
  socket.write(body)
  expect(await server.exited).toBe(0)
  await closed.promise
  expect(received.join('')).toStartWith('HTTP/1.1 201')
})
