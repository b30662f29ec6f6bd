const EVERY_MS = 50

/** Looks from time to time after the requests that last, so that those which do not need no timer and no signal. */
export class SignalWatch {
  /** Asks for the signals of those that have lasted. True while there are some that may. */
  readonly #look: (now: number) => boolean
  #timer: Timer | null = null

  constructor(look: (now: number) => boolean) {
    this.#look = look
  }

  /** A request with a signal to be asked for has begun. */
  begun(): void {
    this.#timer ??= setTimeout(this.#passed, EVERY_MS).unref()
  }

  readonly #passed = (): void => {
    this.#timer = null
    if (this.#look(performance.now())) this.begun()
  }
}
