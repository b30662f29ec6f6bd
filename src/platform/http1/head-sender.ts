import { atEndOfTurn } from './turn.ts'
import type { SocketWriter } from './writer.ts'

/** Sends the heads of requests without a body, each together with those of other connections of the same turn. */
export class HeadSender {
  /** Nothing of it went out yet. */
  isWaiting = false
  /** All of it was taken. */
  isSent = false
  readonly #writer: SocketWriter

  constructor(writer: SocketWriter) {
    this.#writer = writer
  }

  start(head: string): void {
    this.isSent = false
    this.isWaiting = true
    atEndOfTurn(() => {
      if (this.isWaiting) this.#send(head)
    })
  }

  /** What still waits is not sent. */
  stop(): void {
    this.isWaiting = false
  }

  #send(head: string): void {
    this.isWaiting = false
    const taken = this.#writer.writeText(head)
    this.isSent = taken === null
    taken?.then(
      () => {
        this.isSent = true
      },
      () => {}, // the connection failed, and says so itself
    )
  }
}
