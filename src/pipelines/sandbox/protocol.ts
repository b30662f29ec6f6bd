/** The argument that makes `svc` run as a sandbox of a server. Not a command for people. */
export const SANDBOX_ARGUMENT = '__sandbox'

export type SandboxJob = {
  code: string
  /** JSON of `{ user, request, steps, project, deployment }`. */
  input: string
  timeoutMs: number
  /** Base64. The first key signs, all keys verify. */
  keys: readonly string[]
}

export type SandboxFailure =
  /** The code does not parse or has no handler, or the handler threw. `message` is the author's own. */
  | 'threw'
  | 'timeout'
  | 'memory'
  /** The result is larger than `MAX_RESULT`. */
  | 'too_large'
  /** The promise that the handler returned never settles. */
  | 'never_settles'
  /** The sandbox itself crashed; a new one replaces it. */
  | 'broken'
  /** Too many jobs are waiting. */
  | 'busy'

export type SandboxResult = { ok: true; json: string } | { ok: false; kind: SandboxFailure; message: string }

/** The messages of a process for each job: first the result, then whether the process can be used again. */
export type SandboxReply = { result: SandboxResult } | { isSpent: boolean }

/** The largest result of a function, in characters of JSON. */
export const MAX_RESULT = 8 * 1024 * 1024
