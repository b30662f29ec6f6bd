import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../config/config.ts'
import { createLog } from '../../platform/log.ts'
import { clockOfProcess } from '../../testing/clock-of-process.ts'
import { cookieOf, signIn } from '../../testing/full-disk.ts'
import { upgradeInTurn } from '../../testing/rolling-upgrade.ts'
import { freePort, type ServerProcess } from '../../testing/server-process.ts'
import { type StoreProcess, storeProcess } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'
import { arrive } from './arrive.ts'
import { openStore } from './open-store.ts'
import { takeOver } from './take-over.ts'

/** contract 18 §5: who is primary, and how another becomes it. */

const DAY = 86_400_000
/** A later version; `upgrade.store.test.ts` has an executable of one. */
const LATER = { BUN_OPTIONS: `--preload=${join(import.meta.dir, '../../testing/one-migration-more.ts')}` }

let at: StoreProcess
let running: ServerProcess[]
beforeEach(async () => {
  at = await storeProcess({ ROLE: 'auto', TAKEOVER_SECONDS: '3' })
  running = []
})
afterEach(async () => {
  for (const server of running) {
    server.signal('SIGCONT')
    server.signal('SIGKILL')
  }
  await Promise.all(running.map(({ exited }) => exited))
  await at.remove()
})

async function start(name: string, more: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await at.start({ MACHINE_NAME: name, ...more }, `${at.dataDir}-${name}`)
  running.push(server)
  return server
}

async function stop(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
}

async function kill(server: ServerProcess): Promise<void> {
  server.signal('SIGKILL')
  await server.exited
}

const epochOf = async ({ url }: ServerProcess): Promise<number | null> => {
  const answer = await fetch(`${url}/api/health/primary`)
  const { epoch } = (await answer.json()) as { epoch?: number }
  return answer.status === 200 ? (epoch ?? 0) : null
}
const roleOf = async ({ url }: ServerProcess): Promise<unknown> =>
  ((await (await fetch(`${url}/api/health`)).json()) as { role?: unknown }).role
const becomesPrimary = (server: ServerProcess) =>
  until('it is primary', async () => (await epochOf(server)) !== null)
const follows = (server: ServerProcess, limitMs?: number) =>
  until('it follows', () => server.output().includes('this machine follows'), limitMs)

type Caller = { server: ServerProcess; cookie: string }
const signedIn = async (server: ServerProcess): Promise<Caller> => ({
  server,
  cookie: cookieOf(await signIn(server)),
})
const ask = ({ server: { url }, cookie }: Caller, method: string, path: string, json?: unknown) =>
  fetch(`${url}${path}`, {
    method,
    headers: { cookie, origin: url, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
const addUser = (caller: Caller, name: string) =>
  ask(caller, 'POST', '/api/users', { email: `${name}@example.com` })

/** The take-overs, newest first. */
async function takeOvers(caller: Caller): Promise<string[]> {
  const { entries, data } = (await (
    await ask(caller, 'GET', '/api/audit?action=machine.primary')
  ).json()) as Record<string, { after: { machine: string; epoch: number; reason: string } }[] | undefined>
  return (entries ?? data ?? []).map(({ after }) => `${after.epoch} ${after.machine} ${after.reason}`)
}

test('a stand-by follows a living primary, takes over after silence, and the killed one follows when it comes back', async () => {
  const one = await start('one')
  expect(await epochOf(one)).toBe(1)
  const two = await start('two')
  expect([await roleOf(two), await epochOf(two)]).toEqual(['standby', null])
  expect((await addUser(await signedIn(one), 'ann')).status).toBe(201)
  await kill(one)
  await becomesPrimary(two)
  const caller = await signedIn(two)
  expect(await (await ask(caller, 'GET', '/api/users')).text()).toContain('ann@example.com')
  expect((await addUser(caller, 'bob')).status).toBe(201)
  expect(await takeOvers(caller)).toEqual(['2 two silence', '1 one start'])
  const again = await start('one')
  expect([await roleOf(again), await epochOf(again)]).toEqual(['standby', null])
}, 100_000)

test('one that was primary itself last, or whose last one stepped down, takes over at its start', async () => {
  const one = await start('one')
  await kill(one)
  const again = await start('one')
  expect(await epochOf(again)).toBe(2)
  await stop(again)
  const two = await start('two')
  expect(await epochOf(two)).toBe(3)
  expect(await takeOvers(await signedIn(two))).toEqual(['3 two handover', '2 one start', '1 one start'])
}, 100_000)

test('SIGTERM hands over: a stand-by is primary within 3 s, and what was acknowledged is there', async () => {
  const one = await start('one')
  const two = await start('two', { ROLE: 'standby' })
  expect((await addUser(await signedIn(one), 'ann')).status).toBe(201)
  await stop(one)
  const endedAt = performance.now()
  await becomesPrimary(two)
  expect(performance.now() - endedAt).toBeLessThan(3_000)
  const caller = await signedIn(two)
  expect(await (await ask(caller, 'GET', '/api/users')).text()).toContain('ann@example.com')
  expect(await takeOvers(caller)).toEqual(['2 two handover', '1 one start'])
}, 100_000)

test('a machine that is told to be primary is it also where the living one writes all the time', async () => {
  const one = await start('one')
  const before = await signedIn(one)
  let isOver = false
  const acknowledged: string[] = []
  const writer = async (id: string) => {
    for (let n = 0; !isOver; n += 1)
      if ((await addUser(before, `${id}-${n}`)).status === 201) acknowledged.push(`${id}-${n}`)
  }
  const writers = ['a', 'b', 'c'].map(writer)
  await until('it writes', () => acknowledged.length > 20)
  const two = await start('two', { ROLE: 'primary' })
  expect(await epochOf(two)).toBe(2)
  await follows(one)
  isOver = true
  await Promise.all(writers)
  using db = new Database(`${two.dataDir}/svc.db`, { readonly: true })
  const rows = db.query('SELECT email FROM users').all() as { email: string }[]
  const there = new Set(rows.map(({ email }) => email))
  expect(acknowledged.filter((name) => !there.has(`${name}@example.com`))).toEqual([])
}, 100_000)

test('a machine that is told to be primary is it at once; the one before follows without a restart', async () => {
  const one = await start('one')
  const before = await signedIn(one)
  const starting = start('two', { ROLE: 'primary' })
  const createdAt = await until('a number of another', () => {
    const isOthers = ({ headers }: { headers: Record<string, string> }) =>
      headers['x-amz-meta-svc-epoch'] === '2'
    return [...at.store.objects.values()].some(isOthers) ? performance.now() : undefined
  })
  // Nobody writes on it. contract 18 §4: within 10 s.
  await follows(one, 10_000)
  console.log(`deposed while nobody wrote: followed ${Math.round(performance.now() - createdAt)} ms later`)
  const two = await starting
  expect(await epochOf(two)).toBe(2)
  const caller = await signedIn(two)
  expect(await takeOvers(caller)).toEqual(['2 two forced', '1 one start'])
  expect((await addUser(before, 'late')).status).toBe(503)
  expect([await roleOf(one), await epochOf(one)]).toEqual(['standby', null])
  expect((await addUser(caller, 'ann')).status).toBe(201)
  await stop(two)
  await becomesPrimary(one)
  const after = await signedIn(one)
  expect(await (await ask(after, 'GET', '/api/users')).text()).toContain('ann@example.com')
  expect((await addUser(after, 'bob')).status).toBe(201)
}, 100_000)

test('of two stand-bys one wins, and the other follows it', async () => {
  const one = await start('one')
  const others = await Promise.all([start('two'), start('three')])
  expect((await addUser(await signedIn(one), 'ann')).status).toBe(201)
  await kill(one)
  const [winner, loser] = await until('one is primary', async () => {
    const epochs = await Promise.all(others.map(epochOf))
    const at = epochs.findIndex((epoch) => epoch !== null)
    return at === -1 ? undefined : [others[at] as ServerProcess, others[1 - at] as ServerProcess]
  })
  const caller = await signedIn(winner)
  expect((await addUser(caller, 'bob')).status).toBe(201)
  expect(await takeOvers(caller)).toHaveLength(2)
  await stop(winner)
  await becomesPrimary(loser)
  expect(await (await ask(await signedIn(loser), 'GET', '/api/users')).text()).toContain('bob@example.com')
}, 100_000)

test('a primary that was stopped for longer than a take-over acknowledges nothing and follows', async () => {
  const one = await start('one')
  const before = await signedIn(one)
  const two = await start('two')
  one.signal('SIGSTOP')
  await becomesPrimary(two)
  expect((await addUser(await signedIn(two), 'ann')).status).toBe(201)
  one.signal('SIGCONT')
  expect((await addUser(before, 'late')).status).toBe(503)
  await follows(one)
  expect(await at.svc(['store', 'check', '--quick'])).toMatchObject({ code: 0 })
}, 100_000)

test('a stand-by that was stopped does not take its own sleep for silence', async () => {
  const one = await start('one')
  const two = await start('two')
  two.signal('SIGSTOP')
  await Bun.sleep(5_000)
  two.signal('SIGCONT')
  await Bun.sleep(2_500)
  expect([await epochOf(one), await epochOf(two)]).toEqual([1, null])
}, 100_000)

test('clocks that are set back and forth by a day: nobody takes over, and changes go on through either machine', async () => {
  const clocks = { one: clockOfProcess(), two: clockOfProcess() }
  // A busy machine may be silent for 3 s; a day is longer than any silence.
  const [one, two] = await Promise.all([
    startForwarding('one', { ...clocks.one.env, TAKEOVER_SECONDS: '10' }),
    startForwarding('two', { ...clocks.two.env, TAKEOVER_SECONDS: '10' }),
  ])
  at.store.checksTime = false
  for (const ahead of [DAY, -DAY]) {
    clocks.one.isAheadBy(ahead)
    clocks.two.isAheadBy(-ahead)
    await Bun.sleep(4_500)
    expect([await epochOf(one), await epochOf(two)]).toEqual([1, null])
    for (const server of [one, two]) {
      const caller = await signedIn(server)
      expect((await addUser(caller, `u${ahead}-${server.pid}`)).status).toBe(201)
      expect((await ask(caller, 'GET', '/api/users')).status).toBe(200)
    }
  }
  const before = await signedIn(one)
  // To a store that looks at the time, a machine of another day is one that is away.
  at.store.checksTime = true
  clocks.two.isAheadBy(0)
  await until('it is refused', async () => (await epochOf(one)) === null)
  expect((await addUser(before, 'late')).status).toBe(503)
  await becomesPrimary(two)
  expect((await addUser(await signedIn(two), 'ann')).status).toBe(201)
  clocks.one.isAheadBy(0)
  await follows(one)
  expect([await epochOf(one), await epochOf(two)]).toEqual([null, 2])
  for (const clock of Object.values(clocks)) clock.remove()
}, 100_000)

test('without the store a copy is shown, by a machine that is behind, and it takes its role when the store is back', async () => {
  const one = await start('one')
  expect((await addUser(await signedIn(one), 'ann')).status).toBe(201)
  await kill(one)
  at.store.fault = () => ({ status: 503, code: 'InternalError' })
  const again = await start('one', { STORE_TIMEOUT_SECONDS: '1' })
  expect([await roleOf(again), await epochOf(again)]).toEqual(['standby', null])
  at.store.fault = () => undefined
  await becomesPrimary(again)
  expect((await addUser(await signedIn(again), 'bob')).status).toBe(201)
}, 100_000)

test('a stand-by of an empty store begins it after silence', async () => {
  const one = await start('one', { ROLE: 'standby' })
  expect([await roleOf(one), await epochOf(one)]).toEqual(['standby', null])
  await becomesPrimary(one)
  expect((await addUser(await signedIn(one), 'ann')).status).toBe(201)
}, 100_000)

test('a node never takes over; commands on it say where the primary is', async () => {
  const secret = { NODE_SECRET: 'x'.repeat(32) }
  const one = await start('one', { ...secret, MACHINE_URL: 'http://one.example:1' })
  const node = await start('node', { ...secret, ROLE: 'node' })
  expect(await roleOf(node)).toBe('node')
  const refused = await at.svc(['key', 'create', 'ci'], { DATA_DIR: node.dataDir })
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('one (http://one.example:1)')
  await stop(one)
  await Bun.sleep(5_000)
  expect(await epochOf(node)).toBeNull()
}, 100_000)

test('a machine whose data directory is lost takes it from the store', async () => {
  const one = await start('one')
  expect((await addUser(await signedIn(one), 'ann')).status).toBe(201)
  await stop(one)
  rmSync(one.dataDir, { recursive: true })
  const two = await start('one')
  expect(await (await ask(await signedIn(two), 'GET', '/api/users')).text()).toContain('ann@example.com')
}, 100_000)

test('a planned change of the primary loses and refuses nothing that is tried once again after a 503', async () => {
  const pair = await Promise.all(['one', 'two'].map((name) => startForwarding(name)))
  const [one, two] = pair as [ServerProcess, ServerProcess]
  const { cookie } = await signedIn(one)
  let isOver = false
  const added: string[] = []
  const refused: string[] = []
  const add = async (name: string, server: ServerProcess): Promise<Response> => {
    try {
      return await addUser({ server, cookie }, name)
    } catch {
      // As a load balancer does with a machine that is not there.
      return addUser({ server: server === one ? two : one, cookie }, name)
    }
  }
  const work = async (worker: number) => {
    for (let n = 0; !isOver; n++) {
      const name = `u${worker}-${n}`
      const server = pair[(worker + n) % 2] as ServerProcess
      let answer = await add(name, server)
      if (answer.status === 503) {
        await Bun.sleep(Number(answer.headers.get('retry-after')) * 1_000)
        answer = await add(name, server)
      }
      if (answer.status === 201) added.push(name)
      else refused.push(`${answer.status} ${await answer.text()}`)
    }
  }
  const working = [0, 1, 2, 3].map(work)
  await until('some are added', () => added.length > 10)
  await stop(one)
  await becomesPrimary(two)
  const before = added.length
  await until('more are added', () => added.length > before + 10)
  isOver = true
  await Promise.all(working)
  expect(refused).toEqual([])
  // Whoever is there cannot be added again.
  for (const name of added) expect((await addUser({ server: two, cookie }, name)).status).toBe(409)
}, 100_000)

test('a log with a newer schema: a machine follows no further, says so, and never takes over', async () => {
  const config = loadConfig({ env: { ...at.env, DATA_DIR: `${at.dataDir}-newer` } })
  const { store } = openStore(config, Date.now, 'newer')
  const { storeId, number } = await arrive(config, store, Bun.randomUUIDv7)
  const log = createLog({ level: 'error', format: 'json', now: Date.now, write() {} })
  const source = { now: Date.now, newId: Bun.randomUUIDv7, log }
  const claim = { number, reason: 'start', onDeposed() {} } as const
  const newer = await takeOver(config, source, { store, storeId }, claim)
  newer?.db.sqlite.run("INSERT INTO schema_migrations VALUES ('9999-of-the-future', 0)")
  await newer?.stop()
  newer?.db.close()
  const roles = ['auto', 'standby', 'primary']
  const servers = await Promise.all(roles.map((role) => start(role, { ROLE: role })))
  await Bun.sleep(5_000)
  for (const server of servers) {
    expect([await roleOf(server), await epochOf(server)]).toEqual(['standby', null])
    await until('the log', () => server.output().includes('changed by a newer svc'))
  }
}, 100_000)

test(
  'an upgrade across a migration, machine after machine: whoever is left behind passes on, also to a primary it learns of by its beat',
  () => upgradeInTurn((version, name, env) => start(name, { ...(version === 'new' ? LATER : {}), ...env })),
  100_000,
)

/** Behind a load balancer: any machine may get any request. */
function startForwarding(name: string, more: Record<string, string> = {}): Promise<ServerProcess> {
  const port = String(freePort())
  return start(name, {
    PORT: port,
    MACHINE_URL: `http://127.0.0.1:${port}`,
    NODE_SECRET: 'x'.repeat(32),
    ROLE: name === 'one' ? 'primary' : 'standby',
    ...more,
  })
}
