/** The data directory cannot be used as it is. The message says why, for whoever started the command. */
export class DataDirError extends Error {
  /** What of it is damaged; undefined where nothing is, as in a directory of a newer version. */
  readonly damaged: 'database' | 'secret_key' | undefined

  constructor(message: string, options: { cause?: unknown; damaged?: DataDirError['damaged'] } = {}) {
    super(message, options)
    this.damaged = options.damaged
  }
}
