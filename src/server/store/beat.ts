import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { machineEpochs } from '../../db/schema-machines.ts'
import { BEAT_FOLDER, beatKey, logKey } from '../../domain/store-keys.ts'
import type { ObjectStore } from '../../platform/object-store.ts'

const EVERY_MS = 2_000

type Beating = {
  store: ObjectStore
  db: Db
  epoch: number
  name: string
  url: string | null
  /** The last number of the log. */
  number: () => number
  isPrimary: () => boolean
}

/**
 * Says every two seconds that this primary lives, unless the log said it, and looks whether another machine has made the next
 * number: a primary that writes nothing would not find out. What fails is done again. contract 18 §5.
 */
export function startBeating(beating: Beating): () => Promise<void> {
  const { isPrimary, number } = beating
  let said = number()
  let running: Promise<void> | undefined
  const beat = async () => {
    if (!isPrimary()) return
    if (number() === said) await say(beating)
    said = number()
    if (await isOvertaken(beating)) await findOut(beating)
  }
  const round = () => {
    running ??= beat()
      .catch(() => {})
      .finally(() => {
        running = undefined
      })
  }
  const timer = setInterval(round, EVERY_MS)
  timer.unref()
  running = removeOlder(beating)
    .catch(() => {})
    .finally(() => {
      running = undefined
      round()
    })
  return async () => {
    clearInterval(timer)
    await running
    if (isPrimary()) await say(beating, { steppedDown: true }).catch(() => {})
  }
}

async function say({ store, epoch, name, url }: Beating, more: { steppedDown?: true } = {}): Promise<void> {
  const said = JSON.stringify({ name, url, ...more })
  await store.put(beatKey(epoch), new TextEncoder().encode(said), { epoch, patienceMs: 0 })
}

async function isOvertaken({ store, number }: Beating): Promise<boolean> {
  const found = await store.head(logKey(number() + 1), { patienceMs: 0 })
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
    if (Number(key.slice(BEAT_FOLDER.length)) < epoch) await store.delete(key)
}
