import { afterAll, beforeAll, expect, jest, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../../migrations/index.ts'
import { loadConfig } from '../../config/config.ts'
import { openFollowed } from '../../db/followed.ts'
import type { Db } from '../../db/open.ts'
import { type Following, startFollowing } from '../../db/replication/follower.ts'
import type { LogError } from '../../db/replication/log-error.ts'
import { bringUpToDate } from '../../db/replication/replica.ts'
import { AppError } from '../../domain/errors.ts'
import { numberOfLog } from '../../domain/store-keys.ts'
import { createLog } from '../../platform/log.ts'
import { StoreError } from '../../platform/object-store.ts'
import { type HeldCreate, HeldStore } from '../../testing/held-store.ts'
import { LogOracle } from '../../testing/log-oracle.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { STORE_ENV } from '../../testing/store-app.ts'
import { ServeError } from '../listeners.ts'
import { type Primary, takeOver } from './take-over.ts'

/**
 * Three machines, each with a directory of its own, write into one store, whose answers come late, twice or never, while machines
 * crash, lose their disks, take over from each other and have their clocks set. contract 18 §4, §5: what was acknowledged is a part of the log without
 * gaps, and at most one machine acknowledges.
 */

const STEPS = 20_000
const LONG_RUNS = 50
const BASE_EVERY = 100
const HOUR = 3_600_000
const DAY = 24 * HOUR
const STORE_ID = 'model'
/** No disk where there is a choice: a start syncs a lot. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

let root = ''
beforeAll(() => {
  root = mkdtempSync(join(PLACE, 'svc-machines-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Each transaction of the model puts another link on the chain. */
type Link = { n: number; hash: string }

class Model {
  readonly store: HeldStore
  readonly #oracle = new LogOracle()
  readonly #parents = new Map<string, string>()
  /** The chain that is in the log, and its end as of each number. */
  readonly #logged = ['']
  readonly #heads = new Map<number, Link>()
  #isBegun = false
  acknowledged = 0
  takeOvers = 0
  deposed = 0
  applied = 0

  constructor(readFails: () => boolean) {
    this.store = new HeldStore(
      SOURCE.now,
      (key, object) => {
        const number = numberOfLog(key)
        if (number === null) return
        this.#oracle.apply(number, object)
        if (!this.#isBegun || number !== this.#oracle.number) return
        this.#look()
        if (number % BASE_EVERY === 0) this.#oracle.makeBase(this.store, (at) => clock - at < HOUR)
      },
      readFails,
    )
  }

  /** The log has the chain. */
  begin(): void {
    this.#isBegun = true
    this.#look()
  }

  /** At the end of the log. */
  #look(): void {
    const head = headIn((sql) => this.#oracle.query(sql))
    this.#extend(head)
    this.#heads.set(this.#oracle.number, head)
  }

  commit(db: Db, random: () => number): Link {
    const before = headIn((sql) => db.sqlite.query(sql).all())
    const link = { n: before.n + 1, hash: Bun.hash(`${before.hash} ${random()}`).toString(16) }
    this.#parents.set(link.hash, before.hash)
    db.sqlite.transaction(() => {
      db.sqlite.query('UPDATE chain SET n = ?, hash = ?').run(link.n, link.hash)
      const size = 1 + Math.floor(random() * (random() < 0.02 ? 60_000 : 2_000))
      db.sqlite
        .query('INSERT OR REPLACE INTO pad VALUES (?, ?, ?)')
        .run(Math.floor(random() * 40), link.hash, Buffer.alloc(size, link.hash))
    })()
    return link
  }

  /** Throws for what the log does not have, at this moment, in its place. */
  told({ n, hash }: Link): void {
    this.acknowledged += 1
    if (this.#logged[n] !== hash) throw new Error(`${n} was acknowledged, and the log has another`)
  }

  /** A new primary has what the log has, and nothing else. */
  checkPrimary({ db, shipper }: Primary): void {
    if (!this.#isBegun) return
    this.takeOvers += 1
    const read = <T>(sql: string) => db.sqlite.query<T, []>(sql).all()
    const { n, hash } = headIn(read)
    if (this.#logged[n] !== hash) throw new Error(`a primary begins with ${n}, and the log has another`)
    // Another may have created the next number since.
    if (shipper.number !== this.#oracle.number) return
    expect({ n, hash }).toEqual(headIn((sql) => this.#oracle.query(sql)))
    const pads = 'SELECT slot, hash, length(data) AS size FROM pad ORDER BY slot'
    expect(read(pads)).toEqual(this.#oracle.query(pads))
    if (this.takeOvers % 10 === 0) checkPads(read)
  }

  /** A follower has what the log has as of a number, and nothing else. */
  checkFollower({ sqlite }: Db, number: number): void {
    this.applied += 1
    const read = <T>(sql: string) => sqlite.query<T, []>(sql).all()
    expect(headIn(read)).toEqual(this.#heads.get(number) as Link)
    if (this.applied % 100 === 0) checkPads(read)
  }

  /** The chain only grows, and each link follows the one that its writer saw. */
  #extend({ n, hash }: Link): void {
    const end = this.#logged.length - 1
    if (n < end) throw new Error(`the log went back from ${end} to ${n}`)
    let one = hash
    for (let at = n; at > end; at -= 1) {
      this.#logged[at] = one
      const parent = this.#parents.get(one)
      if (parent === undefined) throw new Error(`the log has at ${at} what nobody wrote`)
      one = parent
    }
    if (one !== this.#logged[end]) throw new Error(`the log lost ${end}`)
  }
}

type Read = <T>(sql: string) => T[]

/** No page is of another time than the rest. */
function checkPads(read: Read): void {
  expect(read<unknown>('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  for (const { hash, data } of read<{ hash: string; data: Uint8Array }>('SELECT hash, data FROM pad'))
    expect(Buffer.alloc(data.length, hash).equals(data)).toBe(true)
}

const CHAIN = 'SELECT n, hash FROM chain'
function headIn(query: (sql: string) => unknown[]): Link {
  const [link] = query(CHAIN) as Link[]
  if (link === undefined) throw new Error('there is no chain')
  return link
}

/** From a start to its end. `isRefused`: nothing may be acknowledged any more. */
type Life = { writer: string; working: number; isRefused: boolean; isDeposed: boolean }

/** A directory and, now and then, a primary in it. */
class Machine {
  readonly #name: string
  readonly #model: Model
  /** False: acknowledges without the store. */
  readonly #waits: boolean
  #dir = ''
  #lives = 0
  #life: Life = { writer: '', working: 0, isRefused: false, isDeposed: false }
  primary: Primary | null = null
  following: { db: Db; log: Following } | null = null
  isDown = true
  /** As by SIGSTOP, for so many steps. */
  frozenFor = 0
  /** By so much the clock that it reads is ahead of the store's. */
  #aheadMs = 0

  constructor(name: string, model: Model, waits: boolean) {
    this.#name = name
    this.#model = model
    this.#waits = waits
    this.#move()
  }

  freeze(steps: number): void {
    this.frozenFor = steps
  }

  setClock(aheadMs: number): void {
    this.#aheadMs = aheadMs
  }

  /** Works on without an answer of the store. */
  get isBusy(): boolean {
    return this.#life.working > 0 && !this.#model.store.isAwaited(this.#life.writer)
  }

  /** A start as primary; of one that follows, its take-over. */
  start(): void {
    const { following } = this
    this.following = null
    this.isDown = false
    const life = this.#begin()
    const store = this.#model.store.client(life.writer)
    const onDeposed = () => {
      this.#model.deposed += 1
      life.isDeposed = true
    }
    const [dataDir, file] = [this.#dir, join(this.#dir, 'svc.db')]
    const source = { ...SOURCE, now: () => clock + this.#aheadMs }
    const config = loadConfig({
      env: { ...STORE_ENV, DATA_DIR: dataDir, SECRET_KEY, MACHINE_NAME: this.#name },
    })
    this.#work(async () => {
      await following?.log.look()
      await following?.log.stop()
      following?.db.close()
      const primary = await (following === null
        ? bringUpToDate(store, STORE_ID, file, dataDir)
        : Promise.resolve(following.log)
      )
        .then(({ number }) =>
          takeOver(config, source, { store, storeId: STORE_ID }, { number, reason: 'start', onDeposed }),
        )
        .catch(transientOnly)
      if (this.#life !== life) primary?.shipper.close()
      // Another one was quicker, or the store is away.
      else if (primary === null) this.follow()
      else {
        this.#model.checkPrimary(primary)
        this.primary = primary
      }
    })
  }

  /** Of a primary that another one has taken over from: it goes on without a start. */
  follow(): void {
    const { primary } = this
    this.primary = null
    this.isDown = false
    const life = this.#begin()
    const store = this.#model.store.client(life.writer)
    const [dataDir, file] = [this.#dir, join(this.#dir, 'svc.db')]
    this.#work(async () => {
      await primary?.leave()
      primary?.db.close()
      const found = await bringUpToDate(store, STORE_ID, file, dataDir).catch(transientOnly)
      if (this.#life !== life) return
      if (found === null) return this.crash()
      const db = openFollowed(file)
      this.#model.checkFollower(db, found.number)
      const log = startFollowing({
        ...{ db, file, dataDir, store, storeId: STORE_ID, number: found.number, pollMs: 500, newestSchema },
        log: SOURCE.log,
        onApplied: (number) => this.#model.checkFollower(db, number),
        onStuck: (error) => this.#stuck(error),
      })
      this.following = { db, log }
    })
  }

  look(): void {
    const { following } = this
    if (following !== null) this.#work(() => following.log.look())
  }

  get isDeposed(): boolean {
    return this.primary !== null && this.#life.isDeposed
  }

  /** Commits, and waits for the store unless nobody asks for that. */
  write(random: () => number): void {
    const { primary } = this
    if (primary === null) return
    const links = Array.from({ length: random() < 0.8 ? 1 : 3 }, () => this.#model.commit(primary.db, random))
    if (random() < 0.2) return
    const life = this.#life
    this.#work(async () => {
      const shipped = this.#waits ? primary.shipper.sync() : Promise.resolve()
      const outcome = await shipped.then(
        () => 'told',
        (error) => (error instanceof AppError ? error.code : Promise.reject(error)),
      )
      if (this.#life !== life) return
      if (outcome === 'told' && life.isRefused) throw new Error('a deposed machine acknowledged')
      if (outcome === 'told') for (const link of links) this.#model.told(link)
      if (outcome === 'NOT_PRIMARY') life.isRefused = true
    })
  }

  /** All that was committed until now gets into the log. */
  ship(): void {
    const { primary } = this
    if (primary !== null) this.#work(() => primary.shipper.sync())
  }

  stop(): void {
    const { primary } = this
    if (primary === null) return
    const life = this.#life
    this.primary = null
    this.#work(async () => {
      await primary.stop()
      primary.db.close()
      if (this.#life === life) this.crash()
    })
  }

  /** As by kill -9. What is on its way to the store may get there yet. */
  crash({ isLost = false } = {}): void {
    this.#begin()
    this.primary?.shipper.close()
    this.primary = null
    void this.following?.log.stop().catch(() => {})
    this.following = null
    this.isDown = true
    this.#move(isLost ? undefined : this.#dir)
  }

  /** The files as they are now, in another directory: what the dead process has open is not theirs. */
  #move(from?: string): void {
    const to = mkdtempSync(join(root, `${this.#name}-`))
    if (from !== undefined) {
      // First what says how much the file has.
      const names = readdirSync(from).sort(
        (a, b) => Number(b === 'replica.json') - Number(a === 'replica.json'),
      )
      for (const name of names)
        if (name === 'tmp') mkdirSync(join(to, name))
        else copyOf(join(from, name), join(to, name))
    }
    if (this.#dir !== '') rmSync(this.#dir, { recursive: true })
    this.#dir = to
  }

  /** What it needs was removed as old: it begins anew. */
  #stuck(error: LogError): void {
    if (error.kind === 'missing') this.crash()
    else failures.push(error)
  }

  #begin(): Life {
    this.#lives += 1
    this.#life = { writer: `${this.#name}-${this.#lives}`, working: 0, isRefused: false, isDeposed: false }
    return this.#life
  }

  #work(work: () => Promise<void>): void {
    const life = this.#life
    life.working += 1
    work()
      .catch((error) => {
        // What a dead process meets matters to nobody.
        if (this.#life === life) failures.push(error)
      })
      .finally(() => {
        life.working -= 1
      })
  }
}

/** A partial file may get its name at any moment. */
function copyOf(from: string, to: string): void {
  try {
    copyFileSync(from, to)
  } catch (error) {
    if (!from.endsWith('.partial') || existsSync(from)) throw error
  }
}

function transientOnly(error: unknown): null {
  const isOfStore = error instanceof StoreError && error.isTransient
  if (isOfStore || (error instanceof ServeError && /did not answer|does not take/.test(error.message)))
    return null
  throw error
}

const newestSchema = migrations.at(-1)?.name ?? ''

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')
let clock = 0
const SOURCE = {
  now: () => clock,
  newId: () => Bun.randomUUIDv7(),
  log: createLog({ level: 'silent', format: 'json', now: () => 0, write: () => {} }),
}
const failures: unknown[] = []

/** Nothing goes on any more but by what the store answers, and by time. */
async function untilQuiet(machines: readonly Machine[]): Promise<void> {
  for (let turns = 0; turns < 3 || machines.some(({ isBusy }) => isBusy); turns += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    if (turns > 2_000_000) throw new Error('a machine waits for nothing')
  }
  if (failures.length > 0) throw failures[0]
}

/** `timersMs`: of all that time, what timers see. */
function passes(ms: number, timersMs = ms): void {
  clock += ms
  jest.advanceTimersByTime(timersMs)
}

type Action = { weight: number; run: (machine: Machine, held: HeldCreate | undefined) => void }

function actionsOf(random: () => number): Action[] {
  const isPrimary = (machine: Machine) => machine.primary !== null
  return [
    { weight: 500, run: (machine) => machine.write(random) },
    { weight: 400, run: (_, held) => held?.answer() },
    { weight: 25, run: (_, held) => held?.lose() },
    { weight: 25, run: (_, held) => held?.drop() },
    { weight: 15, run: (_, held) => held?.delay() },
    { weight: 4, run: (_, held) => held?.giveUp() },
    { weight: 20, run: (machine) => void (machine.isDown && machine.start()) },
    { weight: 30, run: (machine) => void (machine.isDown && machine.follow()) },
    { weight: 150, run: (machine) => machine.look() },
    { weight: 40, run: (machine) => void (machine.following !== null && machine.start()) },
    { weight: 30, run: (machine) => void (machine.isDeposed && machine.follow()) },
    { weight: 25, run: () => passes(random() < 0.8 ? 400 : 1_000) },
    { weight: 2, run: () => passes(2 * HOUR, 0) },
    { weight: 1, run: (machine) => machine.freeze(Math.floor(random() * 3_000)) },
    { weight: 3, run: (machine) => void (isPrimary(machine) && machine.stop()) },
    { weight: 5, run: (machine) => machine.setClock(Math.floor(random() * 3 - 1) * DAY) },
    { weight: 4, run: (machine) => void (machine.isDown || machine.crash()) },
    { weight: 1, run: (machine) => machine.crash({ isLost: true }) },
  ]
}

type Hooks = { steps?: number; waits?: boolean; honours?: boolean }

async function runModel(
  seed: number,
  { steps = STEPS, waits = true, honours = true }: Hooks = {},
): Promise<Model> {
  const random = seededRandom(seed)
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)]
  let isCalm = true
  clock = Date.UTC(2026, 0)
  const model = new Model(() => !isCalm && random() < 0.002)
  model.store.honoursConditions = honours
  const machines = ['a', 'b', 'c'].map((name) => new Machine(name, model, waits))
  const answerAll = async () => {
    for (await untilQuiet(machines); model.store.held.length > 0; await untilQuiet(machines))
      model.store.held[0]?.answer()
  }
  const [first] = machines
  first?.start()
  await answerAll()
  first?.primary?.db.sqlite.run('CREATE TABLE chain (n INTEGER, hash TEXT)')
  first?.primary?.db.sqlite.run("INSERT INTO chain VALUES (0, '')")
  first?.primary?.db.sqlite.run('CREATE TABLE pad (slot INTEGER PRIMARY KEY, hash TEXT, data BLOB)')
  first?.ship()
  await answerAll()
  model.begin()

  isCalm = false
  const actions = actionsOf(random).flatMap((action) => Array.from({ length: action.weight }, () => action))
  for (let step = 0; step < steps; step += 1) {
    // Mostly there is one that can write.
    for (const machine of machines) machine.frozenFor -= 1
    const awake = machines.filter(({ frozenFor }) => frozenFor <= 0)
    const primaries = awake.filter(({ primary }) => primary !== null)
    const machine = pick(random() < 0.7 && primaries.length > 0 ? primaries : awake)
    if (machine !== undefined) pick(actions)?.run(machine, pick(model.store.held))
    await untilQuiet(machines)
  }
  isCalm = true
  for (const machine of machines) machine.crash()
  await answerAll()
  // A dead process that was about to take over may still do so.
  for (let tries = 0; tries < 10 && first?.primary === null; tries += 1) {
    first.start()
    await answerAll()
  }
  expect(first?.primary).not.toBeNull()
  first?.crash()
  return model
}

/** With the clock of the test: each second of it is a step. */
async function modelled(seed: number, hooks: Hooks = {}): Promise<Model> {
  jest.useFakeTimers()
  try {
    return await runModel(seed, hooks)
  } finally {
    jest.useRealTimers()
    failures.length = 0
  }
}

test('three machines: what was acknowledged is in the log, in its order, whoever crashes or takes over', async () => {
  const seed = seedOf('machines')
  if (rounds(1, LONG_RUNS) > 1) return runApart(seed, LONG_RUNS)
  const { acknowledged, takeOvers, deposed, applied } = await modelled(seed)
  console.log(
    `${acknowledged} acknowledged, ${takeOvers} take-overs, ${deposed} of them of a live primary; followers applied ${applied}`,
  )
  expect(applied).toBeGreaterThan(STEPS / 200)
  expect(acknowledged).toBeGreaterThan(STEPS / 20)
  expect(takeOvers).toBeGreaterThan(STEPS / 1000)
  expect(deposed).toBeGreaterThan(STEPS / 2000)
}, 7_200_000)

test.each([
  ['answers that do not wait for the store', { waits: false }, /was acknowledged, and the log has another/],
  ['a store that ignores the condition', { honours: false }, /was written over/],
])('the model finds %s', async (_, hooks, found) => {
  await expect(modelled(1, { ...hooks, steps: 5_000 })).rejects.toThrow(found)
})

/** Each in a process of its own, as a killed machine of the model leaves files open. */
async function runApart(seed: number, runs: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) {
    const argv = [process.execPath, 'test', '--timeout', '600000', '-t', 'three machines', import.meta.path]
    const env = { ...process.env, SVC_TEST_LONG: '', SVC_TEST_SEED: String((seed + run) % 2 ** 32 || 1) }
    const child = Bun.spawn(argv, { env, stdio: ['ignore', 'inherit', 'inherit'] })
    expect(await child.exited).toBe(0)
  }
}
