import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import type { Shipper } from '../../db/replication/shipper.ts'
import { machineEpochs } from '../../db/schema-machines.ts'
import { isRecord } from '../../domain/is-record.ts'
import { BEAT_FOLDER, beatKey, logKey, WANTED_KEY } from '../../domain/store-keys.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { BeatTimes } from './beat-times.ts'

/** How often is looked whether something is due, which asks nobody. */
const TICK_MS = 100
/** So long a primary ships nothing for a machine that wants to take over. */
const WAY_MS = 4_000
const LOOK_MS = 100
const MAX_BYTES = 64 * 1024

type Beating = {
  store: ObjectStore
  db: Db
  epoch: number
  name: string
  url: string | null
  shipper: Pick<Shipper, 'number' | 'hold'>
  isPrimary: () => boolean
}

export type Beats = {
  /** Ends them. One that is on its way gets there first. */
  stop(): Promise<void>
  /** The last one: stand-bys need not wait. Everything is in the store before. */
  stepDown(): Promise<void>
}

/** What a primary said last. It decides nothing but when a take-over is tried. */
export type Beat = { text: string; hasSteppedDown: boolean }

/**
 * Says who is primary, and that it lives two seconds after the last time or the last number; and looks every two seconds whether
 * another machine has made the next number: a primary that writes nothing would not find out. What fails is done again.
 * contract 18 §5.
 */
export function startBeating(beating: Beating): Beats {
  const { isPrimary, shipper } = beating
  const times = new BeatTimes()
  let count = 0
  let isOver = false
  let running: Promise<void> | undefined
  const beat = async (due: 'beat' | 'look') => {
    if (!isPrimary()) return
    if (due === 'beat') {
      await say(beating, { count: ++count })
      times.said()
    } else if (await isWanted(beating)) await giveWay(beating, () => isOver)
    if (await isOvertaken(beating)) await findOut(beating)
  }
  const begin = (work: () => Promise<void>) =>
    work()
      .catch(() => {})
      .finally(() => {
        running = undefined
      })
  const round = () => {
    if (running !== undefined) return
    const due = times.due(performance.now(), shipper.number)
    if (due !== null) running = begin(() => beat(due))
  }
  const timer = setInterval(round, TICK_MS)
  timer.unref()
  running = begin(() => removeOlder(beating)).then(round)
  return {
    async stop() {
      isOver = true
      clearInterval(timer)
      await running
    },
    async stepDown() {
      if (isPrimary()) await say(beating, { steppedDown: true }).catch(() => {})
    },
  }
}

/** Null where that primary said nothing yet. What cannot be read says nothing. */
export async function readBeat(store: Pick<ObjectStore, 'get'>, epoch: number): Promise<Beat | null> {
  if (epoch === 0) return null
  const found = await store.get(beatKey(epoch), MAX_BYTES, { patienceMs: 0 })
  if (found === null) return null
  const text = new TextDecoder().decode(found.bytes)
  return { text, hasSteppedDown: isSteppedDown(text) }
}

function isSteppedDown(text: string): boolean {
  try {
    const said: unknown = JSON.parse(text)
    return isRecord(said) && said['steppedDown'] === true
  } catch {
    return false
  }
}

/** `count`: each is another object. */
async function say(
  { store, epoch, name, url }: Beating,
  more: { steppedDown: true } | { count: number },
): Promise<void> {
  const said = JSON.stringify({ name, url, ...more })
  await store.put(beatKey(epoch), new TextEncoder().encode(said), { epoch, patienceMs: 0 })
}

/**
 * Asks the primary, whoever it is, to give way: one that ships all the time has made the next number before another has applied the
 * last. One that does not listen is overtaken all the same once it makes no number.
 */
export async function askToGiveWay(store: ObjectStore, name: string): Promise<void> {
  const said = JSON.stringify({ name })
  await store.put(WANTED_KEY, new TextEncoder().encode(said), { epoch: 0, patienceMs: 0 })
}

const isWanted = async ({ store }: Beating): Promise<boolean> =>
  (await store.head(WANTED_KEY, { patienceMs: 0 })) !== null

async function giveWay(beating: Beating, isOver: () => boolean): Promise<void> {
  // First, so that it is done once for each time that it was asked for.
  await beating.store.delete(WANTED_KEY)
  const end = performance.now() + WAY_MS
  const goOn = beating.shipper.hold()
  try {
    while (!isOver() && performance.now() < end && !(await isOvertaken(beating))) await Bun.sleep(LOOK_MS)
  } finally {
    goOn()
  }
}

async function isOvertaken({ store, shipper }: Beating): Promise<boolean> {
  const found = await store.head(logKey(shipper.number + 1), { patienceMs: 0 })
  return found !== null && found.writer !== store.writer
}

/** A write, which the store refuses then. One that changes nothing would not get into the log. */
async function findOut({ db, epoch }: Beating): Promise<void> {
  inRelaxedTransaction(db, (tx) => {
    tx.update(machineEpochs)
      .set({ at: sql`${machineEpochs.at} + 1` })
      .where(eq(machineEpochs.epoch, epoch))
      .run()
  })
  await db.log.sync()
}

async function removeOlder({ store, epoch }: Beating): Promise<void> {
  for await (const { key } of store.list(BEAT_FOLDER))
    if (key === WANTED_KEY || Number(key.slice(BEAT_FOLDER.length)) < epoch) await store.delete(key)
}
