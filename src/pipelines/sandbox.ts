import { fileURLToPath } from 'node:url'
import { messageOf } from '../domain/errors.ts'
import { IS_COMPILED } from '../platform/is-compiled.ts'
import {
  SANDBOX_ARGUMENT,
  type SandboxJob,
  type SandboxReply,
  type SandboxResult,
} from './sandbox/protocol.ts'

/** Runs the code of function steps in child processes, which start on demand and end when idle. */
type Sandbox = {
  /** `projectId`: projects take turns, and none may occupy all processes. Never rejects. */
  run(projectId: string, job: SandboxJob): Promise<SandboxResult>
  /** Kills all processes. Running and waiting jobs fail. */
  close(): void
}

type SandboxLimits = {
  /** Processes that any project may use. */
  processes: number
  /** Extra processes, for projects that have none running. */
  extraProcesses: number
  maxPerProject: number
  maxWaiting: number
  maxWaitingPerProject: number
  /** A job that has not started by then is rejected. */
  maxWaitMs: number
  /** An idle process ends after this time. */
  idleMs: number
}

const LIMITS: SandboxLimits = {
  processes: 2,
  extraProcesses: 2,
  maxPerProject: 2,
  maxWaiting: 1000,
  maxWaitingPerProject: 250,
  maxWaitMs: 10_000,
  idleMs: 60_000,
}

/**
 * How long a process may exceed the time limit of its job before it is killed. A new process gets `START_MS` instead.
 */
const GRACE_MS = 500
const START_MS = 5000
/** The delay before another attempt to start a process that the system refused. */
const RETRY_MS = 200

export const createSandbox = (limits: SandboxLimits = LIMITS): Sandbox => new ProcessPool(limits)

type Timer = ReturnType<typeof setTimeout>
type Waiting = {
  projectId: string
  job: SandboxJob
  settle: (result: SandboxResult) => void
  expiry: Timer | undefined
}
type Child = {
  process: Bun.Subprocess
  running: Waiting | null
  /** It has sent its result, and prepares for the next job. */
  isClearing: boolean
  isFresh: boolean
  timer: Timer | undefined
}

const BROKEN: SandboxResult = { ok: false, kind: 'broken', message: 'the sandbox ended' }
const BUSY: SandboxResult = { ok: false, kind: 'busy', message: 'too many functions are waiting to run' }
const TIMED_OUT: SandboxResult = {
  ok: false,
  kind: 'timeout',
  message: 'the time limit was over, and the function did not stop by itself',
}

class ProcessPool implements Sandbox {
  readonly #limits: SandboxLimits
  readonly #children = new Set<Child>()
  /** By project; the project that was served last comes last. */
  readonly #queues = new Map<string, Waiting[]>()
  #waitingCount = 0
  #retry: Timer | undefined
  /** Why the last attempt to start a process failed, for the log. */
  #startFailure: string | undefined
  #isClosed = false

  constructor(limits: SandboxLimits) {
    this.#limits = limits
  }

  run(projectId: string, job: SandboxJob): Promise<SandboxResult> {
    const { maxWaiting, maxWaitingPerProject, maxWaitMs } = this.#limits
    const queue = this.#queues.get(projectId) ?? []
    const isFull = this.#waitingCount >= maxWaiting || queue.length >= maxWaitingPerProject
    if (this.#isClosed || isFull) return Promise.resolve(BUSY)
    return new Promise((settle) => {
      const waiting: Waiting = { projectId, job, settle, expiry: undefined }
      waiting.expiry = setTimeout(() => this.#giveUp(waiting), maxWaitMs)
      queue.push(waiting)
      this.#queues.set(projectId, queue)
      this.#waitingCount += 1
      this.#dispatch()
    })
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    for (const child of [...this.#children]) this.#end(child, BROKEN)
    for (const waiting of [...this.#queues.values()].flat()) this.#giveUp(waiting)
  }

  #giveUp(waiting: Waiting): void {
    clearTimeout(waiting.expiry)
    const left = (this.#queues.get(waiting.projectId) ?? []).filter((one) => one !== waiting)
    this.#keepQueue(waiting.projectId, left)
    this.#waitingCount -= 1
    const message = this.#startFailure
    waiting.settle(message === undefined ? BUSY : { ok: false, kind: 'busy', message })
  }

  /** Moves the queue behind the others. */
  #keepQueue(projectId: string, queue: Waiting[]): void {
    this.#queues.delete(projectId)
    if (queue.length > 0) this.#queues.set(projectId, queue)
  }

  /** Assigns one job per project in turn, until no process is free. */
  #dispatch(): void {
    for (let hasAssigned = true; hasAssigned; ) {
      hasAssigned = false
      for (const [projectId, queue] of [...this.#queues]) {
        const child = this.#childFor(projectId)
        const waiting = child === undefined ? undefined : queue.shift()
        if (child === undefined || waiting === undefined) continue
        this.#keepQueue(projectId, queue)
        this.#assign(child, waiting)
        hasAssigned = true
      }
    }
  }

  /** An idle process or, if none is about to become idle, a new one if the project may have one. */
  #childFor(projectId: string): Child | undefined {
    const { processes, extraProcesses, maxPerProject } = this.#limits
    const children = [...this.#children]
    const mine = children.filter(({ running }) => running?.projectId === projectId).length
    if (mine >= maxPerProject) return undefined
    const free = children.filter(({ running }) => running === null)
    const idle = free.find(({ isClearing }) => !isClearing)
    if (idle !== undefined || free.length > 0) return idle
    return children.length < processes + (mine === 0 ? extraProcesses : 0) ? this.#tryToStart() : undefined
  }

  /** If the system is out of processes or descriptors, jobs keep waiting and another attempt follows soon. */
  #tryToStart(): Child | undefined {
    try {
      const child = this.#start()
      this.#startFailure = undefined
      return child
    } catch (error) {
      this.#startFailure = `no process can be started: ${messageOf(error)}`
      this.#retry ??= setTimeout(() => {
        this.#retry = undefined
        this.#dispatch()
      }, RETRY_MS)
      return undefined
    }
  }

  #assign(child: Child, waiting: Waiting): void {
    this.#waitingCount -= 1
    clearTimeout(waiting.expiry)
    clearTimeout(child.timer)
    child.running = waiting
    const graceMs = child.isFresh ? START_MS : GRACE_MS
    child.isFresh = false
    child.timer = setTimeout(() => this.#end(child, TIMED_OUT), waiting.job.timeoutMs + graceMs)
    child.process.send(waiting.job)
  }

  #onReply(child: Child, reply: SandboxReply): void {
    clearTimeout(child.timer)
    if ('result' in reply) {
      const { running } = child
      child.running = null
      child.isClearing = true
      child.timer = setTimeout(() => this.#end(child, TIMED_OUT), GRACE_MS)
      running?.settle(reply.result)
    } else if (reply.isSpent) this.#end(child, BROKEN)
    else {
      child.isClearing = false
      child.timer = setTimeout(() => this.#end(child, BROKEN), this.#limits.idleMs)
      child.timer.unref()
      if (this.#waitingCount > 0) this.#dispatch()
    }
  }

  /** Kills the process. Its running job gets `result`. */
  #end(child: Child, result: SandboxResult): void {
    if (!this.#children.delete(child)) return
    clearTimeout(child.timer)
    child.process.kill('SIGKILL')
    child.running?.settle(result)
    child.running = null
    if (!this.#isClosed) this.#dispatch()
  }

  #start(): Child {
    const process = Bun.spawn(command(), {
      env: {},
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore'],
      ipc: (reply: SandboxReply) => this.#onReply(child, reply),
      onExit: (_, code, signal) => this.#end(child, endOf(code, signal)),
    })
    process.unref()
    const child: Child = { process, running: null, isClearing: false, isFresh: true, timer: undefined }
    this.#children.add(child)
    return child
  }
}

/** The result of a job whose process ended by itself. */
function endOf(code: number | null, signal: NodeJS.Signals | number | null): SandboxResult {
  if (signal === 'SIGALRM') return TIMED_OUT
  const why = signal === 'SIGKILL' ? ', probably because memory is short' : ''
  const by = signal === null ? `with exit code ${code}` : `by ${signal}${why}`
  return { ok: false, kind: 'broken', message: `the sandbox ended ${by}` }
}

/** The executable starts itself; when running from sources, Bun runs the entry file. */
function command(): string[] {
  if (IS_COMPILED) return [process.execPath, SANDBOX_ARGUMENT]
  return [process.execPath, fileURLToPath(new URL('./sandbox/entry.ts', import.meta.url))]
}
