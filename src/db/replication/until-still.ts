import { LogError } from './log-error.ts'

const TRIES = 4

/** Does it again where something is missing: a primary removes what is old while the store is read. */
export async function untilStill<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (tries === TRIES || !(error instanceof LogError) || error.kind !== 'missing') throw error
    }
  }
}
