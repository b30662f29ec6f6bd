/** The data directory is unusable in its current state. The message tells the person who ran the command why. */
export class DataDirError extends Error {
  /** The damaged part; undefined if nothing is damaged, for example if a newer version wrote the directory. */
  readonly damaged: 'database' | 'secret_key' | undefined

  constructor(message: string, options: { cause?: unknown; damaged?: DataDirError['damaged'] } = {}) {
    super(message, options)
    this.damaged = options.damaged
  }
}
