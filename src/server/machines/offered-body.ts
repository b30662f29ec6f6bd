type Bytes = ReadableStream<Uint8Array>

/** The body of a request, which may be sent again as long as nobody has read of it. */
export class OfferedBody {
  readonly #body: Bytes | null
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor(body: Bytes | null) {
    this.#body = body
  }

  get isRead(): boolean {
    return this.#reader !== undefined
  }

  /** Who cancels it unread leaves it for the next. */
  offer(): Bytes | null {
    const body = this.#body
    if (body === null) return null
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          this.#reader ??= body.getReader()
          const { done, value } = await this.#reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: (reason) => this.#reader?.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }

  /** It is sent no more. */
  drop(): void {
    if (!this.isRead) this.#body?.cancel().catch(() => {})
  }
}
