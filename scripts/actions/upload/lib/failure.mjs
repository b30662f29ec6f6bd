/** Expected, so its message is all that the log needs. */
export class ActionFailure extends Error {}

/** The server answered, and the answer was no. */
export class ApiFailure extends ActionFailure {
  /** @param {{ status: number, code?: string | undefined, message: string, retryAfterMs?: number | undefined }} answer */
  constructor({ status, code, message, retryAfterMs }) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

/** No answer came: refused, reset, unresolved, timed out, cut off. */
export class ServerUnreachable extends ActionFailure {}

/**
 * Of whatever was thrown.
 *
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Also what the machine refuses (a file that may not be read, say): its message names the call and the path.
 *
 * @param {unknown} error
 */
export function isExpected(error) {
  return error instanceof ActionFailure || (error instanceof Error && 'syscall' in error)
}
