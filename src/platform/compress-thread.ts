import type { ContentCoding } from '../domain/content-encoding.ts'
import { niceThreads } from './nice-threads.ts'

/** Some bytes, and the encodings and levels to compress them with. */
type CompressJob = { bytes: Uint8Array; codings: readonly Coding[] }
type Coding = { encoding: ContentCoding; level: number }

/** The thread yields nearly all CPU time to anything else: compression can wait. */
const NICENESS = 19

const compress = niceThreads<CompressJob, Uint8Array[]>({
  niceness: NICENESS,
  failure: 'The bytes could not be compressed',
  program: `
  import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
  function compressed(bytes, { encoding, level }) {
    if (encoding === 'gzip') return gzipSync(bytes, { level })
    if (encoding === 'zstd') return Bun.zstdCompressSync(bytes, { level })
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
    const params = { [BROTLI_PARAM_QUALITY]: level, [BROTLI_PARAM_SIZE_HINT]: bytes.length }
    return brotliCompressSync(bytes, { params })
  }
  const work = ({ bytes, codings }) => codings.map((coding) => new Uint8Array(compressed(bytes, coding)))`,
})

/** One queue for the whole process: parallel jobs would only take more CPU time from more important work. */
let last: Promise<unknown> = Promise.resolve()

/** Compresses at the lowest priority, one job at a time. Results are in the order of `codings`. */
export function onCompressThread(job: CompressJob): Promise<Uint8Array[]> {
  const done = last.then(() => compress(job))
  last = done.catch(() => undefined)
  return done
}
