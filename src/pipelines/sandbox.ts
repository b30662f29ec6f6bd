import { fileURLToPath } from 'node:url'
import { messageOf } from '../domain/errors.ts'
import { IS_COMPILED } from '../platform/is-compiled.ts'
import {
  SANDBOX_ARGUMENT,
  type SandboxJob,
  type SandboxReply,
  type SandboxResult,
} from './sandbox/protocol.ts'

/** Runs the code of function steps, in processes that are started when they are needed and end when they are not. */
type Sandbox = {
  /** `projectId`: projects take turns, and none has all processes to itself. Never rejects. */
  run(projectId: string, job: SandboxJob): Promise<SandboxResult>
  /** Ends all processes; what runs or waits fails. */
  close(): void
}

type SandboxLimits = {
  /** Processes that are kept busy at once. */
  processes: number
  /** Further ones, only for a project that has none running. */
  extraProcesses: number
  mostPerProject: number
  mostWaiting: number
  mostWaitingPerProject: number
  /** A job that did not begin by then is refused. */
  maxWaitMs: number
  /** A process with nothing to do ends after this. */
  idleMs: number
}

const LIMITS: SandboxLimits = {
  processes: 2,
  extraProcesses: 2,
  mostPerProject: 2,
  mostWaiting: 1000,
  mostWaitingPerProject: 250,
  maxWaitMs: 10_000,
  idleMs: 60_000,
}

/** What a process gets to obey, beyond the job's own time, before it is killed; more while it is starting. */
const GRACE_MS = 500
const START_MS = 5000
/** Until the next try to start a process where the system would not. */
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
  /** Has given its result, and clears up for the next. */
  isClearing: boolean
  isFresh: boolean
  timer: Timer | undefined
}

const BROKEN: SandboxResult = { ok: false, kind: 'broken', message: 'the sandbox ended' }
const BUSY: SandboxResult = { ok: false, kind: 'busy', message: 'too many functions wait to be run' }
const DEAF: SandboxResult = {
  ok: false,
  kind: 'timeout',
  message: 'the time is over, and it did not stop by itself',
}

class ProcessPool implements Sandbox {
  readonly #limits: SandboxLimits
  readonly #children = new Set<Child>()
  /** By project; the one whose turn was last is last. */
  readonly #queues = new Map<string, Waiting[]>()
  #waitingCount = 0
  #retry: Timer | undefined
  /** Why the last try to start a process failed, for the log. */
  #startFailure: string | undefined
  #isClosed = false

  constructor(limits: SandboxLimits) {
    this.#limits = limits
  }

  run(projectId: string, job: SandboxJob): Promise<SandboxResult> {
    const { mostWaiting, mostWaitingPerProject, maxWaitMs } = this.#limits
    const queue = this.#queues.get(projectId) ?? []
    const isFull = this.#waitingCount >= mostWaiting || queue.length >= mostWaitingPerProject
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

  /** Puts the queue behind the others. */
  #keepQueue(projectId: string, queue: Waiting[]): void {
    this.#queues.delete(projectId)
    if (queue.length > 0) this.#queues.set(projectId, queue)
  }

  /** One to each project, and again, until no process is left. */
  #dispatch(): void {
    for (let given = true; given; ) {
      given = false
      for (const [projectId, queue] of [...this.#queues]) {
        const child = this.#childFor(projectId)
        const waiting = child === undefined ? undefined : queue.shift()
        if (child === undefined || waiting === undefined) continue
        this.#keepQueue(projectId, queue)
        this.#give(child, waiting)
        given = true
      }
    }
  }

  /** An idle process or, when none is about to be idle, a new one where the project may have one. */
  #childFor(projectId: string): Child | undefined {
    const { processes, extraProcesses, mostPerProject } = this.#limits
    const children = [...this.#children]
    const mine = children.filter(({ running }) => running?.projectId === projectId).length
    if (mine >= mostPerProject) return undefined
    const free = children.filter(({ running }) => running === null)
    const idle = free.find(({ isClearing }) => !isClearing)
    if (idle !== undefined || free.length > 0) return idle
    return children.length < processes + (mine === 0 ? extraProcesses : 0) ? this.#tryToStart() : undefined
  }

  /** Where the system has no process or descriptor left, what waits goes on waiting, and it is tried again soon. */
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

  #give(child: Child, waiting: Waiting): void {
    this.#waitingCount -= 1
    clearTimeout(waiting.expiry)
    clearTimeout(child.timer)
    child.running = waiting
    const graceMs = child.isFresh ? START_MS : GRACE_MS
    child.isFresh = false
    child.timer = setTimeout(() => this.#end(child, DEAF), waiting.job.timeoutMs + graceMs)
    child.process.send(waiting.job)
  }

  #heard(child: Child, reply: SandboxReply): void {
    clearTimeout(child.timer)
    if ('result' in reply) {
      const { running } = child
      child.running = null
      child.isClearing = true
      child.timer = setTimeout(() => this.#end(child, DEAF), GRACE_MS)
      running?.settle(reply.result)
    } else if (reply.isSpent) this.#end(child, BROKEN)
    else {
      child.isClearing = false
      child.timer = setTimeout(() => this.#end(child, BROKEN), this.#limits.idleMs)
      child.timer.unref()
      if (this.#waitingCount > 0) this.#dispatch()
    }
  }

  /** Kills the process. What it ran comes out as `result`. */
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
      ipc: (reply: SandboxReply) => this.#heard(child, reply),
      onExit: (_, code, signal) => this.#end(child, endOf(code, signal)),
    })
    process.unref()
    const child: Child = { process, running: null, isClearing: false, isFresh: true, timer: undefined }
    this.#children.add(child)
    return child
  }
}

/** What becomes of the function of a process that ended by itself. */
function endOf(code: number | null, signal: NodeJS.Signals | number | null): SandboxResult {
  if (signal === 'SIGALRM') return DEAF
  const why = signal === 'SIGKILL' ? ', as it does where memory is short' : ''
  const by = signal === null ? `with exit code ${code}` : `by ${signal}${why}`
  return { ok: false, kind: 'broken', message: `the sandbox ended ${by}` }
}

/** The executable starts itself; from sources it is Bun that is started. */
function command(): string[] {
  if (IS_COMPILED) return [process.execPath, SANDBOX_ARGUMENT]
  return [process.execPath, fileURLToPath(new URL('./sandbox/entry.ts', import.meta.url))]
}
