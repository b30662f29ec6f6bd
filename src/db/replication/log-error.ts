export type LogErrorKind =
  /** An object of the log or a base that is cut, changed, or not what its name says. */
  | 'damaged'
  /** A number that the log has to have is not there: lost, or removed as old while it was read. */
  | 'missing'
  /** The log ends below a number that this data directory has seen. */
  | 'behind'
  /** The data directory is a copy of another store, or a workspace of its own. */
  | 'not_ours'

/** Why the log of the object store cannot be used. The message is for an operator and names the key. */
export class LogError extends Error {
  readonly kind: LogErrorKind

  constructor(kind: LogErrorKind, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.kind = kind
  }

  /** Whether somebody has to decide what the data directory or the store is to be. Exit code 78 at a start. */
  get isSetting(): boolean {
    return this.kind === 'behind' || this.kind === 'not_ours'
  }
}

export const damaged = (key: string, why: string): LogError =>
  new LogError('damaged', `"${key}" in the object store is damaged: ${why}`)

export const missing = (key: string, why: string): LogError =>
  new LogError('missing', `the log in the object store has a gap: "${key}" is not there, ${why}`)
