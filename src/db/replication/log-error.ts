import { messageOf } from '../../domain/errors.ts'

export type LogErrorKind =
  /** An object of the log or a base that is cut, changed, or not what its name says. */
  | 'damaged'
  /** A number that the log has to have is not there: lost, or removed as old while it was read. */
  | 'missing'
  /** The log ends below a number that this data directory has seen. */
  | 'behind'
  /** The data directory is a copy of another store, or a workspace of its own. */
  | 'not_ours'
  /** The disk failed while pages were put into the file. */
  | 'torn'

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

  /** Whether a follower goes on when it takes the database anew. */
  get isMended(): boolean {
    return this.kind === 'missing' || this.kind === 'torn'
  }
}

export const damaged = (key: string, why: string): LogError =>
  new LogError('damaged', `"${key}" in the object store is damaged: ${why}`)

export const missing = (key: string, why: string): LogError =>
  new LogError('missing', `the log in the object store has a gap: "${key}" is not there, ${why}`)

export const behind = (end: number, seen: number): LogError =>
  new LogError(
    'behind',
    `the log in the object store ends at ${end}, but this data directory has seen ${seen}: an older copy of the store was put back. Put the newer one back, or use an empty DATA_DIR to go on from ${end}`,
  )

export const torn = (path: string, cause: unknown): LogError =>
  new LogError('torn', `${path} could not be written: ${messageOf(cause)}`, { cause })

export const anotherLog = (key: string): LogError =>
  new LogError(
    'behind',
    `"${key}" in the object store is not the one that this data directory has: an older copy of the store was put back, and written on. Put the newer one back, or use an empty DATA_DIR to go on from there`,
  )
