// @ts-expect-error: the text of the file is imported, and TypeScript sees its exports
import head from './nice-program.ts' with { type: 'text' }
import type { Reply } from './nice-program.ts'
import { programUrl } from './program-url.ts'

type Thread<Answer> = {
  worker: Worker & Pick<Bun.Worker, 'ref' | 'unref'>
  running: PromiseWithResolvers<Answer> | undefined
  idle: ReturnType<typeof setTimeout> | undefined
}

type ThreadWork = {
  /**
   * The text of a module with a function `work(job)`, whose return value is the result. Its imports are types and
   * built-in modules only.
   */
  program: string
  /** On Linux each thread has a niceness of its own; elsewhere these are ordinary threads. */
  niceness: number
  /** The start of the message of a failure: `A password could not be hashed`. */
  failure: string
}

/** A thread that has been idle for this long ends, which frees its memory. */
const IDLE_MS = 10_000

/**
 * Runs each job on a separate thread with a lower priority than the threads that serve visitors. The caller must limit
 * how many run at once.
 */
export function niceThreads<Job, Answer>(work: ThreadWork): (job: Job) => Promise<Answer> {
  const resting: Thread<Answer>[] = []
  /** One URL for all threads, because the text behind a URL stays in memory. */
  let url: string | undefined

  const end = (thread: Thread<Answer>): void => {
    const place = resting.indexOf(thread)
    if (place !== -1) resting.splice(place, 1)
    clearTimeout(thread.idle)
    thread.worker.terminate()
  }

  /** Makes the thread available for the next job; it ends if none comes. It does not keep the process alive. */
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
  programUrl(`const NICENESS = ${niceness}\n${head}\n${program}`)

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
    thread.running?.reject(new Error(`${failure}: its thread ended:  ${message}`))
    end(thread)
  }
  return thread
}
