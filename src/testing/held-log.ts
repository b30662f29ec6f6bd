import type { LogSync } from '../db/log-sync.ts'
import type { Db } from '../db/open.ts'
import { Awaited } from '../db/replication/awaited.ts'
import type { AppError } from '../domain/errors.ts'
import { notPrimary, storeUnreachable } from '../domain/store-errors.ts'

/** An object store by what it does to those who wait: it takes what is committed when it is told to. */
export type HeldLog = LogSync & {
  state: 'up' | 'held' | 'away' | 'deposed'
  /** Takes what waits, or fails it. */
  settle(): void
  waiting: number
}

/** Puts it in place of the database's own. */
export function holdLog(db: Db): HeldLog {
  const awaited = new Awaited()
  let waiting: PromiseWithResolvers<void>[] = []
  const refusal = (): AppError | null => {
    if (log.state === 'deposed') return notPrimary()
    return log.state === 'away' ? storeUnreachable(false) : null
  }
  const log: HeldLog = {
    state: 'up',
    get awaited() {
      return awaited.count
    },
    set awaited(count) {
      awaited.count = count
    },
    failure: undefined,
    isOfDisk: false,
    refusal,
    get waiting() {
      return waiting.length
    },
    async sync() {
      if (log.state === 'up') return
      if (log.state !== 'held') throw refusal()
      const mine = Promise.withResolvers<void>()
      waiting.push(mine)
      return mine.promise
    },
    settle() {
      const settled = waiting
      waiting = []
      const why = log.state === 'away' ? storeUnreachable(true) : refusal()
      for (const { resolve, reject } of settled) why === null ? resolve() : reject(why)
    },
    close() {},
  }
  db.log.close()
  db.log = log
  return log
}
