import { messageOf } from '../domain/errors.ts'
import { ownProgram } from '../platform/own-program.ts'
import { type TurnLimits, Turns, type Who } from '../platform/turns.ts'
import {
  SANDBOX_ARGUMENT,
  type SandboxJob,
  type SandboxReply,
  type SandboxResult,
} from './sandbox/protocol.ts'

const PROGRAM = new URL('./sandbox/entry.ts', import.meta.url)

/** Runs the code of function steps in child processes, which start on demand and end when idle. */
type Sandbox = {
  /** `who`: projects take turns, and no owner may occupy all processes. Never rejects. */
  run(who: Who, job: SandboxJob): Promise<SandboxResult>
  /** Kills all processes. Running and waiting jobs fail. */
  close(): void
}

type SandboxLimits = TurnLimits & {
  /** Of all owners together. */
  processes: number
  /** A job that has not started by then is rejected. */
  maxWaitMs: number
  /** An idle process ends after this time. */
  idleMs: number
}

/** contract 14.1. */
const LIMITS: Omit<SandboxLimits, 'processes'> = {
  maxPerProject: 2,
  sharedPerOwner: 2,
  maxPerOwner: 4,
  maxWaiting: 1000,
  maxWaitingPerOwner: 250,
  maxWaitMs: 10_000,
  idleMs: 60_000,
}

/**
 * How long a process may exceed the time limit of its job before it is killed. A new process gets `START_MS` instead.
 */
const GRACE_MS = 500
const START_MS = 5000
/** As many running jobs make the next one find a process that is ready. */
const SEVERAL = 2
/** The delay before another attempt to start a process that the system refused. */
const RETRY_MS = 200

export const createSandbox = (limits: Partial<SandboxLimits> & { processes: number }): Sandbox =>
  new ProcessPool({ ...LIMITS, ...limits })

type Timer = ReturnType<typeof setTimeout>
type Waiting = Who & {
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
  readonly #turns: Turns<Waiting>
  #retry: Timer | undefined
  /** Why the last attempt to start a process failed, for the log. */
  #startFailure: string | undefined
  #isClosed = false

  constructor(limits: SandboxLimits) {
    this.#limits = limits
    this.#turns = new Turns(limits)
  }

  run({ projectId, ownerId }: Who, job: SandboxJob): Promise<SandboxResult> {
    if (this.#isClosed) return Promise.resolve(BUSY)
    return new Promise((settle) => {
      const waiting: Waiting = { projectId, ownerId, job, settle, expiry: undefined }
      waiting.expiry = setTimeout(() => this.#giveUp(waiting), this.#limits.maxWaitMs)
      this.#turns.add(waiting)
      this.#dispatch()
      const isWaiting = waiting.expiry !== undefined
      if (isWaiting && this.#turns.isCrowded(waiting, this.#running(), this.#limits)) this.#giveUp(waiting)
    })
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    for (const child of [...this.#children]) this.#end(child, BROKEN)
    for (const waiting of this.#turns.all()) this.#giveUp(waiting)
  }

  #giveUp(waiting: Waiting): void {
    clearTimeout(waiting.expiry)
    this.#turns.remove(waiting)
    const message = this.#startFailure
    waiting.settle(message === undefined ? BUSY : { ok: false, kind: 'busy', message })
  }

  #running(): Waiting[] {
    return [...this.#children].flatMap(({ running }) => running ?? [])
  }

  /**
   * Starts jobs until no process is free. Whoever is next gets an idle process; else waits for one that is about to be idle;
   * else gets a new one.
   */
  #dispatch(): void {
    let soonIdle = [...this.#children].filter(({ isClearing }) => isClearing).length
    const passed = new Set<string>()
    for (;;) {
      const waiting = this.#turns.next(this.#running(), passed)
      if (waiting === undefined) {
        this.#keepSpare()
        return
      }
      const child = this.#idleChild()
      if (child === undefined && soonIdle > 0) {
        soonIdle -= 1
        passed.add(waiting.projectId)
        continue
      }
      const started = child ?? this.#tryToStart()
      if (started === undefined) return
      this.#assign(started, waiting)
    }
  }

  /** While several jobs run, starting a process may take long: the next owner finds one that is ready. */
  #keepSpare(): void {
    const children = [...this.#children]
    const isFree = children.some(({ running }) => running === null)
    if (children.length < SEVERAL || children.length >= this.#limits.processes || isFree) return
    try {
      this.#endWhenIdle(this.#start())
    } catch {
      // The system has no room for one: nobody waits for it.
    }
  }

  #endWhenIdle(child: Child): void {
    child.timer = setTimeout(() => this.#end(child, BROKEN), this.#limits.idleMs)
    child.timer.unref()
  }

  #idleChild(): Child | undefined {
    return [...this.#children].find(({ running, isClearing }) => running === null && !isClearing)
  }

  /** If the system is out of processes or descriptors, jobs keep waiting and another attempt follows soon. */
  #tryToStart(): Child | undefined {
    if (this.#children.size >= this.#limits.processes) return undefined
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
    this.#turns.remove(waiting)
    clearTimeout(waiting.expiry)
    waiting.expiry = undefined
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
      this.#endWhenIdle(child)
      if (this.#turns.length > 0) this.#dispatch()
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
    const process = Bun.spawn([...ownProgram(PROGRAM), SANDBOX_ARGUMENT], {
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
