/** What `svc` is started with to be a sandbox of a server. Not a command for people. */
export const SANDBOX_ARGUMENT = '__sandbox'

export type SandboxJob = {
  code: string
  /** JSON of `{ user, request, steps, project, deployment }`. */
  input: string
  timeoutMs: number
  /** Base64: the first signs, all verify. */
  keys: readonly string[]
}

export type SandboxFailure =
  /** The code cannot be parsed, has no handler, or the handler threw: `message` is the author's own. */
  | 'threw'
  | 'timeout'
  | 'memory'
  /** The result is larger than `MAX_RESULT`. */
  | 'too_large'
  /** The promise that the handler gave back never settles. */
  | 'never_settles'
  /** The sandbox itself broke; a new one takes its place. */
  | 'broken'
  /** Too many wait. */
  | 'busy'

export type SandboxResult = { ok: true; json: string } | { ok: false; kind: SandboxFailure; message: string }

/** What a process says of each job: what came of it and, when it has cleared up, whether it is good for another. */
export type SandboxReply = { result: SandboxResult } | { isSpent: boolean }

/** Characters of the JSON that a function may give back. */
export const MAX_RESULT = 8 * 1024 * 1024
