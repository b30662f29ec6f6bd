import type { Db } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { fairQueue } from '../../platform/fair-queue.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { onePer } from '../../platform/one-per.ts'

/**
 * Reads of large records, which would otherwise fill the server's time: each turns megabytes into text and sends them. They
 * take turns, and between two of them the server has time for everybody else.
 */

/** Characters of a read. */
const LARGE = 2 ** 20
/** To send what was read takes about twice as long, in the time that others have: so more than half is left to them. */
const REST = 6
/** So long does nobody need the time. */
const IDLE_MS = 4
/** A turn in which nobody was served is shorter. */
const EMPTY_TURN_MS = 0.1
const MAX_KNOWN = 10_000

const largeOf = onePer((_: Db) => new Set<string>())

/** Whether a read of the schema was large. Inside a transaction nothing may wait. */
export const isLarge = (db: Db, schemaId: string): boolean =>
  largeOf(db).has(schemaId) && !db.sqlite.inTransaction

/** Says how much a read of the schema found. */
export function noteSize(db: Db, schemaId: string, characters: number): void {
  if (characters <= LARGE) return
  const large = largeOf(db)
  if (large.size >= MAX_KNOWN) large.clear()
  large.add(schemaId)
}

/** Schemas take turns, so that many reads of one do not keep those of others waiting. */
const inLine = fairQueue({
  waitingOfOne: 200,
  waiting: 2_000,
  refusal: () =>
    new AppError(
      'unavailable',
      'Too many large records are being read at the same time; try again in a moment',
      {
        headers: { 'retry-after': '5' },
      },
    ),
})

/** Runs `read` when those before it have ended and rested. Rejects with 503 when too many wait. */
export function inTurn<T>(schemaId: string, read: () => T): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const job = async () => {
    const start = performance.now()
    try {
      resolve(read())
    } catch (error) {
      reject(error)
    }
    await leaveToOthers((performance.now() - start) * REST)
  }
  inLine(schemaId, job).catch(reject)
  return promise
}

/** Until others had so much time, or did not need it. */
async function leaveToOthers(ms: number): Promise<void> {
  let served = 0
  let idle = 0
  while (served < ms && idle < IDLE_MS) {
    const start = performance.now()
    await nextTurn()
    const took = performance.now() - start
    served += took
    idle = took < EMPTY_TURN_MS ? idle + took : 0
  }
}
