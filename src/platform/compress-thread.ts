import type { ContentCoding } from '../domain/content-encoding.ts'

/** What is to be made of some bytes: the compressed form in each of these encodings, at these levels. */
export type CompressJob = { bytes: Uint8Array; codings: readonly Coding[] }
export type Coding = { encoding: ContentCoding; level: number }

type Reply = { compressed: Uint8Array[] } | { failure: string }

type Thread = {
  worker: Worker & Pick<Bun.Worker, 'ref' | 'unref'>
  running: PromiseWithResolvers<Uint8Array[]> | undefined
  idle: ReturnType<typeof setTimeout> | undefined
}

/** The thread is given back when there is nothing to compress for a while. */
const IDLE_MS = 10_000

/**
 * Of a core that anything else wants the thread gets next to nothing: compressed forms may wait. On Linux each thread
 * has a niceness of its own; elsewhere this is a thread like any other.
 */
const NICENESS = 19

/** The thread is given its program as text: one file less that the executable would have to carry. */
const PROGRAM = `
  import { readlinkSync } from 'node:fs'
  import { setPriority } from 'node:os'
  import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), ${NICENESS})
  } catch {}
  function compress(bytes, { encoding, level }) {
    if (encoding === 'gzip') return gzipSync(bytes, { level })
    if (encoding === 'zstd') return Bun.zstdCompressSync(bytes, { level })
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
    const params = { [BROTLI_PARAM_QUALITY]: level, [BROTLI_PARAM_SIZE_HINT]: bytes.length }
    return brotliCompressSync(bytes, { params })
  }
  self.onmessage = ({ data: { bytes, codings } }) => {
    try {
      postMessage({ compressed: codings.map((coding) => new Uint8Array(compress(bytes, coding))) })
    } catch (error) {
      postMessage({ failure: String(error) })
    }
  }`

/** Of the whole process: more at once would only take more from what goes before. */
let thread: Thread | undefined
let last: Promise<unknown> = Promise.resolve()

/** Compresses behind everything else that the machine has to do, one job at a time. In the order of `codings`. */
export function onCompressThread(job: CompressJob): Promise<Uint8Array[]> {
  const done = last.then(() => run(job))
  last = done.catch(() => undefined)
  return done
}

function run(job: CompressJob): Promise<Uint8Array[]> {
  thread ??= startThread()
  clearTimeout(thread.idle)
  const running = Promise.withResolvers<Uint8Array[]>()
  thread.running = running
  thread.worker.ref()
  thread.worker.postMessage(job)
  return running.promise
}

function startThread(): Thread {
  const url = URL.createObjectURL(new Blob([PROGRAM], { type: 'application/javascript' }))
  const worker = new Worker(url) as Thread['worker']
  const started: Thread = { worker, running: undefined, idle: undefined }
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    const { running } = started
    rest(started)
    if ('compressed' in data) running?.resolve(data.compressed)
    else running?.reject(new Error(`The bytes could not be compressed: ${data.failure}`))
  }
  worker.onerror = ({ message }) => {
    started.running?.reject(new Error(`The thread that compresses ended: ${message}`))
    end(started)
  }
  return started
}

/** Ready for the next job, and gone if none comes. It does not keep the process from ending. */
function rest(idle: Thread): void {
  idle.running = undefined
  idle.worker.unref()
  idle.idle = setTimeout(() => end(idle), IDLE_MS)
  idle.idle.unref()
}

function end(ended: Thread): void {
  if (thread === ended) thread = undefined
  clearTimeout(ended.idle)
  ended.worker.terminate()
}
