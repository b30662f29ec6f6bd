import { atEndOfTurn } from './turn.ts'
import type { SocketWriter } from './writer.ts'

/** Sends heads of requests without a body, batched with those of other connections in the same turn. */
export class HeadSender {
  /** Nothing of it has been sent yet. */
  isWaiting = false
  /** All of it has been sent. */
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

  /** Cancels a head that is still waiting. */
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
      () => {}, // the connection failed and reports it itself
    )
  }
}
