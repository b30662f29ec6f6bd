type Reply<Answer> = { answer: Answer } | { failure: string }

type Thread<Answer> = {
  worker: Worker & Pick<Bun.Worker, 'ref' | 'unref'>
  running: PromiseWithResolvers<Answer> | undefined
  idle: ReturnType<typeof setTimeout> | undefined
}

type ThreadWork = {
  /**
   * The text of a module with a function `work(job)`; what it returns is the answer. A text, and not a file: one less that
   * the executable would have to carry.
   */
  program: string
  /** On Linux each thread has a niceness of its own; elsewhere these are threads like any other. */
  niceness: number
  /** What fails when it fails: `A password could not be hashed`. */
  failure: string
}

/** A thread and the memory that it took are given back when it has nothing to do for a while. */
const IDLE_MS = 10_000

/**
 * Runs each job on a thread that has nothing else to do, behind what the server does for visitors. How many run at once is
 * for the caller to bound.
 */
export function niceThreads<Job, Answer>(work: ThreadWork): (job: Job) => Promise<Answer> {
  const resting: Thread<Answer>[] = []
  /** One for all of them: the text behind such an address stays in memory. */
  let url: string | undefined

  const end = (thread: Thread<Answer>): void => {
    const place = resting.indexOf(thread)
    if (place !== -1) resting.splice(place, 1)
    clearTimeout(thread.idle)
    thread.worker.terminate()
  }

  /** Ready for the next job, and gone if none comes. It does not keep the process from ending. */
  const rest = (thread: Thread<Answer>): void => {
    thread.running = undefined
    thread.worker.unref()
    thread.idle = setTimeout(() => end(thread), IDLE_MS)
    thread.idle.unref()
    resting.push(thread)
  }

  return (job) => {
    url ??= addressOf(work)
    const thread = resting.pop() ?? startThread(url, work.failure, rest, end)
    clearTimeout(thread.idle)
    const running = Promise.withResolvers<Answer>()
    thread.running = running
    thread.worker.ref()
    thread.worker.postMessage(job)
    return running.promise
  }
}

const addressOf = ({ program, niceness }: ThreadWork): string =>
  URL.createObjectURL(new Blob([`${programHead(niceness)}${program}`], { type: 'application/javascript' }))

function startThread<Answer>(
  url: string,
  failure: string,
  rest: (thread: Thread<Answer>) => void,
  end: (thread: Thread<Answer>) => void,
): Thread<Answer> {
  const worker = new Worker(url) as Thread<Answer>['worker']
  const thread: Thread<Answer> = { worker, running: undefined, idle: undefined }
  worker.onmessage = ({ data }: MessageEvent<Reply<Answer>>) => {
    const { running } = thread
    rest(thread)
    if ('answer' in data) running?.resolve(data.answer)
    else running?.reject(new Error(`${failure}: ${data.failure}`))
  }
  worker.onerror = ({ message }) => {
    thread.running?.reject(new Error(`${failure}, as its thread ended: ${message}`))
    end(thread)
  }
  return thread
}

const programHead = (niceness: number): string => `
  import { readlinkSync } from 'node:fs'
  import { setPriority } from 'node:os'
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), ${niceness})
  } catch {}
  self.onmessage = ({ data }) => {
    try {
      postMessage({ answer: work(data) })
    } catch (error) {
      postMessage({ failure: String(error) })
    }
  }
`
