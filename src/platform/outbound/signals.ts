const EVERY_MS = 50

/** Checks periodically on requests that last, so that short ones need no timer and no signal. */
export class SignalWatch {
  /** Creates the signals of requests that last. True while some may still need it. */
  readonly #look: (now: number) => boolean
  #timer: Timer | null = null

  constructor(look: (now: number) => boolean) {
    this.#look = look
  }

  /** Call it when a request with a lazy signal has begun. */
  onRequest(): void {
    this.#timer ??= setTimeout(this.#passed, EVERY_MS).unref()
  }

  readonly #passed = (): void => {
    this.#timer = null
    if (this.#look(performance.now())) this.onRequest()
  }
}
