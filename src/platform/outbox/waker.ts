/** Tells a sender that there is something to send. Nobody listens in a command: it only writes the outbox. */
export class Waker {
  #wake = (): void => {}
  #isDue = false

  /** Calls `wake` until the returned function is called. */
  listen(wake: () => void): () => void {
    this.#wake = wake
    return () => {
      this.#wake = () => {}
    }
  }

  /** For use inside a transaction, which is over in the next turn. However often it is used in one, it wakes once. */
  afterCommit(): void {
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => {
      this.#isDue = false
      this.#wake()
    }, 0)
  }
}
