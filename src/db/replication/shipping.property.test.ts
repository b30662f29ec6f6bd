import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { AppError } from '../../domain/errors.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { Shipping } from '../../testing/shipping.ts'
import { until } from '../../testing/until.ts'
import { inTransaction } from '../open.ts'
import { inDurableTransaction, inRelaxedTransaction } from '../relaxed.ts'

const STEPS = rounds(80, 4000)

type Pick = (below: number) => number

/** One transaction: rows of up to 12 KB, changed and taken away. */
function change(sqlite: Database, pick: Pick): void {
  for (let row = 1 + pick(6); row > 0; row -= 1) {
    sqlite.query('INSERT INTO t (v) VALUES (randomblob(?))').run(pick(12_000))
    sqlite.query('UPDATE t SET v = randomblob(?) WHERE id = ?').run(pick(3_000), 1 + pick(300))
  }
  if (pick(6) === 0) sqlite.query('DELETE FROM t WHERE id % 5 = ?').run(pick(5))
}

/** A store that fails now and then, before and after what it was asked for. */
function faults(it: Shipping, pick: Pick): void {
  it.server.fault = ({ method }) => {
    if (method !== 'PUT' || pick(12) > 0) return undefined
    return { status: pick(2) === 0 ? 500 : 503, afterwards: pick(2) === 0 }
  }
}

test('after each crash there is all that was acknowledged, and of the rest the beginning', async () => {
  const random = seededRandom(seedOf('shipping'))
  const pick: Pick = (below) => Math.floor(random() * below)
  const it = new Shipping({ due: { pages: 60, objects: 15, baseBytes: 2 ** 19 } })
  await it.shipper.sync()
  faults(it, pick)
  let other = new Database(it.file)
  /** States after each commit since the last one that was acknowledged. */
  let states: string[] = [JSON.stringify(it.rows())]
  const committed = () => void states.push(JSON.stringify(it.rows()))

  async function crash(): Promise<void> {
    other.close()
    await it.crash()
    const found = JSON.stringify(it.rows())
    // Of pages that are not in use neither has to hold anything.
    expect(JSON.stringify(it.rowsOf(await it.restored(0)))).toBe(found)
    expect(JSON.stringify(it.rowsOf(it.file))).toBe(found)
    expect(states.includes(found)).toBe(true)
    states = [found]
    other = new Database(it.file)
  }
  async function acknowledged(waiting: Promise<unknown>): Promise<void> {
    const before = states.length - 1
    const outcome = await waiting.then(
      () => 'done',
      (error) => (error instanceof AppError ? error.code : Promise.reject(error)),
    )
    if (outcome === 'NOT_PRIMARY') await crash()
    else if (outcome === 'done') states = states.slice(before)
  }
  function durable(): Promise<void> {
    const waiting = inDurableTransaction(it.db, () => change(it.db.sqlite, pick))
    committed()
    return waiting
  }
  /** Nothing reaches the store any more, while what did is copied into the file. */
  async function lose(): Promise<void> {
    await acknowledged(durable())
    it.server.fault = ({ method }) => (method === 'PUT' ? { hang: 'before' } : undefined)
    for (let more = pick(4); more > 0; more -= 1) {
      inTransaction(it.db, () => change(it.db.sqlite, pick))
      committed()
    }
    if (pick(3) === 0) it.db.sqlite.run('VACUUM')
    committed()
    await Bun.sleep(pick(150))
    await crash()
    faults(it, pick)
  }
  const steps: (() => Promise<void>)[] = [
    () => acknowledged(durable()),
    () => acknowledged(Promise.all([durable(), durable(), durable()])),
    async () => {
      inRelaxedTransaction(it.db, () => change(it.db.sqlite, pick))
      committed()
    },
    async () => {
      inTransaction(it.db, () => change(it.db.sqlite, pick))
      committed()
    },
    async () => {
      other.transaction(() => change(other, pick)).immediate()
      committed()
    },
    async () => {
      it.db.sqlite.run('VACUUM')
      committed()
    },
    async () => void other.query('PRAGMA wal_checkpoint(PASSIVE)').get(),
    async () => void other.query('PRAGMA wal_checkpoint(TRUNCATE)').get(),
    () => acknowledged(it.shipper.sync()),
    lose,
    () => Bun.sleep(pick(30)),
  ]
  for (let step = 0; step < STEPS; step += 1) {
    if (pick(25) === 0) await crash()
    else
      await steps[pick(steps.length)]?.().catch((error) => {
        if (!(error instanceof AppError)) throw error
      })
  }
  it.server.fault = () => undefined
  await acknowledged(it.shipper.sync())
  await crash()
  await inDurableTransaction(it.db, () => it.insert(600_000))
  await until('a base', () => it.bases().length > 0)
  for (const base of it.bases()) expect(it.rowsOf(await it.restored(base))).toEqual(it.rows())
  other.close()
  await it.end()
}, 1_200_000)
