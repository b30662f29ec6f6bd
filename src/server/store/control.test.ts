import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { adminCommand } from '../../cli/admin.ts'
import { keyCommand } from '../../cli/key.ts'
import { runCommand } from '../../cli/run-command.ts'
import { testIo } from '../../cli/testing/test-io.ts'
import { askServer } from '../../platform/control-socket.ts'
import { STORE_ENV, type StoreApp, storeApp } from '../../testing/store-app.ts'
import { until } from '../../testing/until.ts'
import { openControl } from './control.ts'

/** contract 18 §1: `svc admin` and `svc key` go through the server and end with 0 only when the store has the change. */

let app: StoreApp
let stop: () => Promise<void>
let folder: string
beforeEach(async () => {
  app = await storeApp({}, { isOnDisk: true })
  folder = app.ctx.config.dataDir
  stop = openControl(() => app.ctx)
})
afterEach(async () => {
  await stop()
  app.close()
})

async function svc(args: string[], password?: string) {
  const readPassword = async () => password
  const io = testIo({ env: { ...STORE_ENV, DATA_DIR: folder }, readPassword })
  const commands = { key: () => keyCommand, admin: () => adminCommand }
  const code = await runCommand(commands, args, io, 'key')
  return { code, out: io.out(), err: io.err() }
}
const keys = () => app.ctx.db.sqlite.query('SELECT name FROM api_keys').values().flat()

test('the socket is for the user of the server alone, and goes with it', async () => {
  const socket = join(folder, 'control.sock')
  expect(statSync(socket).mode & 0o777).toBe(0o600)
  await stop()
  expect(existsSync(socket)).toBe(false)
})

test('a key is printed once the store has it', async () => {
  app.log.state = 'held'
  let isDone = false
  const made = svc(['key', 'create', 'ci']).finally(() => {
    isDone = true
  })
  await until('the store is asked', () => app.log.waiting > 0)
  expect([isDone, keys()]).toEqual([false, ['ci']])
  app.log.settle()
  expect(await made).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^svc_[\w-]{43}\n$/) })
})

test('what the store does not confirm ends with 1 and says so', async () => {
  app.log.state = 'held'
  const made = svc(['key', 'create', 'ci'])
  await until('the store is asked', () => app.log.waiting > 0)
  app.log.state = 'away'
  app.log.settle()
  expect(await made).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('may still have happened'),
  })
})

test('while the store is away, or on a machine that is not primary, nothing is written', async () => {
  for (const state of ['away', 'deposed'] as const) {
    app.log.state = state
    expect((await svc(['key', 'create', 'ci'])).code).toBe(1)
  }
  expect(keys()).toEqual([])
})

test('without a server nothing is written, and it says where', async () => {
  await stop()
  for (const args of [
    ['key', 'create', 'ci'],
    ['admin', 'create', 'ann@example.com'],
  ]) {
    const { code, err } = await svc(args, 'correct horse battery')
    expect([code, err]).toEqual([1, expect.stringContaining(`no server runs on ${folder}`)])
  }
  expect(keys()).toEqual([])
})

test('a server that ends before it answers may have done it, and the command says so', async () => {
  await stop()
  const server = Bun.listen({
    unix: join(folder, 'control.sock'),
    socket: { data: (socket) => void socket.terminate() },
  })
  const { code, err } = await svc(['key', 'create', 'ci'])
  server.stop(true)
  expect([code, err]).toEqual([1, expect.stringContaining('may have been done all the same')])
  expect(err).not.toContain('nothing was changed')
})

test('admins are made, and what the server refuses is said', async () => {
  const made = await svc(['admin', 'create', 'ann@example.com'], 'correct horse battery')
  expect(made).toMatchObject({ code: 0, err: 'ann@example.com is an administrator now\n' })
  const again = await svc(['admin', 'create', 'ann@example.com'], 'correct horse battery')
  expect(again.code).toBe(1)
  expect(await svc(['admin', 'reset-mfa', 'ann@example.com'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('has no second step'),
  })
})

test('a name that no version knows is refused', async () => {
  for (const body of [
    { name: 'toString', input: {} },
    [],
    'key create',
    { name: 'key create', input: { name: 7 } },
  ])
    expect((await askServer(folder, body))?.ok).toBe(false)
  expect(keys()).toEqual([])
})
