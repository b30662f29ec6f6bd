import { afterEach, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import {
  addSchema,
  type Call,
  callsTo,
  cookieOf,
  FIRST_ADMIN,
  fillDisk,
  idOf,
  signIn,
} from '../testing/full-disk.ts'
import { rounds, seedOf } from '../testing/rounds.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'
import { until } from '../testing/until.ts'

const ended: (() => void)[] = []
afterEach(() => {
  for (const end of ended.splice(0).reverse()) end()
})

/** A small file system that outlives the server: `enter` is the prefix of a command that sees it. */
async function smallDisk(path: string, sizeMib: number): Promise<{ enter: string[]; root: string }> {
  const isRoot = process.getuid?.() === 0
  const mount = 'mount -t tmpfs -o size="$1" tmpfs "$0" && touch "$0"/mounted && exec sleep 3600'
  const holder = Bun.spawn([
    'unshare',
    ...(isRoot ? [] : ['--user', '--map-root-user']),
    '--mount',
    ...['sh', '-c', mount, path, `${sizeMib}m`],
  ])
  ended.push(() => holder.kill())
  const root = `/proc/${holder.pid}/root${path}`
  await until('the disk', () => existsSync(`${root}/mounted`))
  const user = isRoot ? [] : ['--user', '--preserve-credentials']
  return { enter: ['nsenter', '--target', String(holder.pid), ...user, '--mount'], root }
}

const callsOf = async (server: ServerProcess): Promise<Call> => {
  const answer = await signIn(server)
  expect(answer.status).toBe(200)
  return callsTo(server, cookieOf(answer))
}

async function recordsOf(call: Call, count: number): Promise<string[]> {
  const { records } = await addSchema(call)
  const paths: string[] = []
  for (let i = 0; i < count; i++)
    paths.push(`${records}/${await idOf(await call('POST', records, { note: `note ${i}` }))}`)
  return paths
}

const ROUNDS = rounds(1, 20)

test('killed while it gives up the reserve, a server has deleted what it said, and deletes the rest when it is back', async () => {
  const random = seededRandom(seedOf('reserve and kill -9'))
  for (let round = 0; round < ROUNDS; round++) {
    const data = makeDataDir()
    ended.push(data.remove)
    const { enter, root } = await smallDisk(data.path, 64)
    const first = await startServer(data.path, FIRST_ADMIN, enter)
    const call = await callsOf(first)
    const paths = await recordsOf(call, 12)
    await until('the reserve', () => existsSync(`${root}/reserve`))
    fillDisk(root)

    const acknowledged = new Set<string>()
    const deleting = paths.map(async (path) => {
      const { status } = await call('DELETE', path)
      if (status === 204) acknowledged.add(path)
    })
    await Bun.sleep(random() * 60)
    first.signal('SIGKILL')
    await Promise.allSettled(deleting)
    await first.exited

    const second = await startServer(data.path, FIRST_ADMIN, enter, [200, 503])
    const again = await callsOf(second)
    for (const path of paths) {
      const { status } = await again('GET', path)
      if (acknowledged.has(path)) expect([path, status]).toEqual([path, 404])
      else if (status === 200) expect((await again('DELETE', path)).status).toBe(204)
    }
    second.signal('SIGTERM')
    expect(await second.exited).toBe(0)
    expect((await runSvc(['check', '--data-dir', data.path], { before: enter })).code).toBe(0)
  }
}, 900_000)

test('killed under load, its database is opened by a command and a server at once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const data = makeDataDir()
    ended.push(data.remove)
    const first = await startServer(data.path, FIRST_ADMIN)
    const call = await callsOf(first)
    const [path = ''] = await recordsOf(call, 1)
    const records = path.slice(0, path.lastIndexOf('/'))
    let made = 0
    const load = Array.from({ length: 8 }, async () => {
      for (;;) if ((await call('POST', records, { note: 'more' })).status === 201) made += 1
    })
    await until('some load', () => made > 50)
    first.signal('SIGKILL')
    await Promise.allSettled(load)
    await first.exited

    const commands = [['check'], ['key', 'create', 'ci'], ['backup', `${data.path}-all.tar`]]
    const done = commands.map((args) => runSvc([...args, '--data-dir', data.path]))
    const second = await startServer(data.path, FIRST_ADMIN)
    expect((await Promise.all(done)).map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
      [0, expect.stringContaining('wrote')],
    ])
    const again = await callsOf(second)
    const { pagination } = (await (await again('GET', `${records}?limit=1`)).json()) as {
      pagination: { total: number }
    }
    expect(pagination.total).toBeGreaterThanOrEqual(made + 1)
    second.signal('SIGTERM')
    expect(await second.exited).toBe(0)
    ended.push(() => void Bun.file(`${data.path}-all.tar`).delete())
  }
}, 900_000)
