import { inTurns } from '../../db/log-sync.ts'
import { answerKey } from '../../domain/store-keys.ts'
import type { CertObjects } from '../../platform/object-store/cert-objects.ts'

/** Between two looks into the store, however many strangers ask. */
const GAP_MS = 500
const MAX_WAITING = 1_000

/**
 * What the primary wants the authority to be told, from the object store: the authority may ask any machine. An answer is in
 * the store before the authority is told to look, so each request needs a look that began after it.
 */
export class Answers {
  readonly #objects: CertObjects
  #keys: ReadonlySet<string> = new Set()
  #notBefore = 0
  #waiting = 0
  readonly #look = inTurns(async () => {
    await Bun.sleep(Math.max(0, this.#notBefore - performance.now()))
    this.#notBefore = performance.now() + GAP_MS
    this.#keys = await this.#objects.answers()
  })

  constructor(objects: CertObjects) {
    this.#objects = objects
  }

  /** Undefined too where the store does not answer. */
  async of(host: string, token: string): Promise<string | undefined> {
    if (this.#waiting >= MAX_WAITING) return undefined
    this.#waiting += 1
    try {
      await this.#look()
      const key = answerKey(host, token)
      return this.#keys.has(key) ? await this.#objects.readAnswer(key) : undefined
    } catch {
      return undefined
    } finally {
      this.#waiting -= 1
    }
  }
}
