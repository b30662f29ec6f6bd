/** What the machine can refuse: a full or read-only disk, files of other users, missing or in the way, too many open ones. */
const REFUSALS =
  /^(EACCES|EPERM|EROFS|ENOSPC|EDQUOT|EIO|EMFILE|ENFILE|ENOENT|EEXIST|ENOTDIR|EISDIR|ELOOP|ENAMETOOLONG|SQLITE_(FULL|READONLY|BUSY|LOCKED|CANTOPEN|IOERR|CORRUPT|NOTADB)\w*)$/

/** The error of the system or of SQLite at the root of this one; undefined for a fault of ours. */
export function systemErrorOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string' && REFUSALS.test(error.code)) return error
  return systemErrorOf(error.cause)
}
