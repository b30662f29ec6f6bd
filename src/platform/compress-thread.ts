import type { ContentCoding } from '../domain/content-encoding.ts'
import { niceThreads } from './nice-threads.ts'

/** What is to be made of some bytes: the compressed form in each of these encodings, at these levels. */
type CompressJob = { bytes: Uint8Array; codings: readonly Coding[] }
type Coding = { encoding: ContentCoding; level: number }

/** Of a core that anything else wants the thread gets next to nothing: compressed forms may wait. */
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

/** Of the whole process: more at once would only take more from what goes before. */
let last: Promise<unknown> = Promise.resolve()

/** Compresses behind everything else that the machine has to do, one job at a time. In the order of `codings`. */
export function onCompressThread(job: CompressJob): Promise<Uint8Array[]> {
  const done = last.then(() => compress(job))
  last = done.catch(() => undefined)
  return done
}
