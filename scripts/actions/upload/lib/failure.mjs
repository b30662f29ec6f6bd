/** Expected, so its message is all that the log needs. */
export class ActionFailure extends Error {}

/** The server answered, and the answer was no. */
export class ApiFailure extends ActionFailure {
  /** @param {{ status: number, code: string, message: string, retryAfterMs?: number }} answer */
  constructor({ status, code, message, retryAfterMs }) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

/** No answer came: refused, reset, unresolved, timed out, cut off. */
export class ServerUnreachable extends ActionFailure {}

/** Of whatever was thrown. */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error)
}
