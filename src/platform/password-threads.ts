/** A password to compare with a hash or, without one, to hash at these costs. */
export type PasswordJob = { password: string; hash: string | null; costs: Bun.Password.Argon2Algorithm }

type Answer = string | boolean
type Reply = { answer: Answer } | { failure: string }

type Thread = {
  worker: Worker & Pick<Bun.Worker, 'ref' | 'unref'>
  running: PromiseWithResolvers<Answer> | undefined
  idle: ReturnType<typeof setTimeout> | undefined
}

/** A thread and the memory that Argon2 took are given back when nobody signs in for a while. */
const IDLE_MS = 10_000

/**
 * Of a core that the server wants as well, a thread of this niceness gets a sixth: sign-ins may wait, visitors may not.
 * On Linux each thread has a niceness of its own; elsewhere these are threads like any other.
 */
const NICENESS = 7

/** The threads are given their program as text: one file less that the executable would have to carry. */
const PROGRAM = `
  import { readlinkSync } from 'node:fs'
  import { setPriority } from 'node:os'
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), ${NICENESS})
  } catch {}
  self.onmessage = ({ data: { password, hash, costs } }) => {
    try {
      const answer =
        hash === null ? Bun.password.hashSync(password, costs) : Bun.password.verifySync(password, hash)
      postMessage({ answer })
    } catch (error) {
      postMessage({ failure: String(error) })
    }
  }`

/** Of the whole process. How many run at once is for the caller to bound. */
const idleThreads: Thread[] = []

/** Runs the job on a thread that has nothing else to do. */
export function onPasswordThread(job: PasswordJob): Promise<Answer> {
  const thread = idleThreads.pop() ?? startThread()
  clearTimeout(thread.idle)
  const running = Promise.withResolvers<Answer>()
  thread.running = running
  thread.worker.ref()
  thread.worker.postMessage(job)
  return running.promise
}

function startThread(): Thread {
  const url = URL.createObjectURL(new Blob([PROGRAM], { type: 'application/javascript' }))
  const worker = new Worker(url) as Thread['worker']
  const thread: Thread = { worker, running: undefined, idle: undefined }
  thread.worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    const { running } = thread
    rest(thread)
    if ('answer' in data) running?.resolve(data.answer)
    else running?.reject(new Error(`A password could not be hashed: ${data.failure}`))
  }
  thread.worker.onerror = ({ message }) => {
    thread.running?.reject(new Error(`The thread that hashes passwords ended: ${message}`))
    end(thread)
  }
  return thread
}

/** Ready for the next job, and gone if none comes. It does not keep the process from ending. */
function rest(thread: Thread): void {
  thread.running = undefined
  thread.worker.unref()
  thread.idle = setTimeout(() => end(thread), IDLE_MS)
  thread.idle.unref()
  idleThreads.push(thread)
}

function end(thread: Thread): void {
  const place = idleThreads.indexOf(thread)
  if (place !== -1) idleThreads.splice(place, 1)
  thread.worker.terminate()
}
