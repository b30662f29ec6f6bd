/** Tells a sender that there is something to send. Nobody listens in a command: it only writes the outbox. */
export class Waker {
  #wake = (): void => {}

  /** Calls `wake` until the returned function is called. */
  listen(wake: () => void): () => void {
    this.#wake = wake
    return () => {
      this.#wake = () => {}
    }
  }

  /** For use inside a transaction, which is over in the next turn. */
  afterCommit(): void {
    setTimeout(() => this.#wake(), 0)
  }
}
