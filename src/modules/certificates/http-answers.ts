import { messageOf } from '../../domain/errors.ts'
import type { Solver } from '../../platform/acme/solver.ts'
import type { Log } from '../../platform/log.ts'
import type { CertObjects } from '../../platform/object-store/cert-objects.ts'
import { NotSharedError } from './not-shared-error.ts'

/** What the authority is told when it asks a host at port 80. RFC 8555 §8.3. */
export class HttpAnswers {
  readonly #log: Log
  readonly #objects: CertObjects | null
  readonly #answers = new Map<string, string>()

  constructor(log: Log, objects: CertObjects | null) {
    this.#log = log
    this.#objects = objects
    objects?.endAnswers().catch((error) => this.#left(error))
  }

  of(host: string, token: string): string | undefined {
    return this.#answers.get(`${host}/${token}`)
  }

  solverOf(host: string): Solver {
    return {
      kind: 'http-01',
      show: async (proofs) => {
        const ends = await Promise.all(proofs.map(({ token, text }) => this.#show(host, token, text)))
        return () => {
          for (const end of ends) end()
        }
      },
    }
  }

  /** Other machines have the answer too when it resolves. */
  async #show(host: string, token: string, text: string): Promise<() => void> {
    const key = `${host}/${token}`
    this.#answers.set(key, text)
    await this.#objects?.answer(host, token, text).catch((error) => {
      this.#answers.delete(key)
      throw new NotSharedError(messageOf(error), { cause: error })
    })
    return () => {
      this.#answers.delete(key)
      this.#objects?.endAnswer(host, token).catch((error) => this.#left(error))
    }
  }

  /** They are removed at the next start. */
  #left(error: unknown): void {
    this.#log.debug('answers to the authority were left in the object store', { error })
  }
}
