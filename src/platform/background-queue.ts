import { nextTurn } from './next-turn.ts'

/** Does one piece of work after the other, by id, beside the requests. What is queued twice while it waits is done once. */
export class BackgroundQueue {
  readonly #waiting = new Set<string>()
  readonly #work: (id: string) => Promise<void>
  #running: Promise<void> | undefined
  #isStopped = false

  /** `work` must not throw. */
  constructor(work: (id: string) => Promise<void>) {
    this.#work = work
  }

  /** Asked by `work` between its pieces: what is left is queued again at the next start. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  isWaiting(id: string): boolean {
    return this.#waiting.has(id)
  }

  /** Returns at once. */
  add(id: string): void {
    if (this.#isStopped) return
    this.#waiting.add(id)
    this.#start()
  }

  /** Queues what `listAfter` names, page by page: the ids after the given one, in their order. */
  async addAll(listAfter: (after: string) => string[]): Promise<void> {
    for (let after = ''; !this.#isStopped; ) {
      const ids = listAfter(after)
      for (const id of ids) this.add(id)
      const last = ids.at(-1)
      if (last === undefined) return
      after = last
      await nextTurn()
    }
  }

  /** Resolves when nothing is left to do. */
  async wait(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Accepts nothing more, and resolves when `work` has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.wait()
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#waiting.size > 0 && !this.#isStopped) this.#start()
    })
  }

  async #run(): Promise<void> {
    await nextTurn()
    for (const id of this.#waiting) {
      if (this.#isStopped) return
      this.#waiting.delete(id)
      await this.#work(id)
    }
  }
}
