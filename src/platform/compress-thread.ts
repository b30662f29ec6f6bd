// @ts-expect-error: the text of the file is imported, and TypeScript sees its exports
import program from './compress-program.ts' with { type: 'text' }
import type { CompressJob } from './compress-program.ts'
import { niceThreads } from './nice-threads.ts'

/** The thread yields nearly all CPU time to anything else: compression can wait. */
const NICENESS = 19

const compress = niceThreads<CompressJob, Uint8Array[]>({
  niceness: NICENESS,
  failure: 'The bytes could not be compressed',
  program,
})

/** One queue for the whole process: parallel jobs would only take more CPU time from more important work. */
let last: Promise<unknown> = Promise.resolve()

/** Compresses at the lowest priority, one job at a time. Results are in the order of `codings`. */
export function onCompressThread(job: CompressJob): Promise<Uint8Array[]> {
  const done = last.then(() => compress(job))
  last = done.catch(() => undefined)
  return done
}
