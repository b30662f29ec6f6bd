import { programUrl } from '../../platform/program-url.ts'
import type { FileFacts, FoundFile } from './files.ts'
// @ts-expect-error: the text of the file is imported, and TypeScript sees its exports
import program from './hash-program.ts' with { type: 'text' }
import type { HashAnswer, HashJob } from './hash-program.ts'

/** A second thread for hashing. Start it early: starting takes about as long as listing a folder. */
export type HashThread = {
  /** Makes it hash its share of the files, starting now. Call it once. */
  share(files: readonly FoundFile[]): SharedHashing
  end(): void
}

/** Both threads take blocks of the files until none is left. */
type SharedHashing = {
  /** The caller's next block, without `to`; undefined when all are taken. */
  takeBlock(): { from: number; to: number } | undefined
  /** Bytes and files that the thread hashed since the last call. */
  takeProgress(): [bytes: number, files: number]
  /** Hashes by index in the list, without large files and those that the thread could not read. Never rejects. */
  results(): Promise<ReadonlyMap<number, FileFacts>>
}

const BLOCK_FILES = 32
/** The caller hashes larger files in pieces. */
const WHOLE_BYTES = 1024 * 1024

/** Undefined on a machine with one core. */
export function startHashThread(): HashThread | undefined {
  if (navigator.hardwareConcurrency < 2) return undefined
  const url = programUrl(program)
  const worker = new Worker(url)
  return {
    share: (files) => shareFiles(worker, files),
    end() {
      worker.terminate()
      URL.revokeObjectURL(url)
    },
  }
}

function shareFiles(worker: Worker, files: readonly FoundFile[]): SharedHashing {
  const shared = new SharedArrayBuffer(24)
  const next = new Int32Array(shared, 0, 1)
  const done = new Float64Array(shared, 8, 2)
  const answered = answerOf(worker)
  const paths = files.map(({ absolutePath }) => absolutePath)
  worker.postMessage({
    paths,
    shared,
    blockFiles: BLOCK_FILES,
    wholeBytes: WHOLE_BYTES,
  } satisfies HashJob)
  let told: [bytes: number, files: number] = [0, 0]
  return {
    takeBlock() {
      const from = Atomics.add(next, 0, BLOCK_FILES)
      return from < files.length ? { from, to: Math.min(from + BLOCK_FILES, files.length) } : undefined
    },
    takeProgress() {
      const [bytes = 0, count = 0] = done
      const [toldBytes, toldCount] = told
      told = [bytes, count]
      return [bytes - toldBytes, count - toldCount]
    },
    results: () => answered,
  }
}

/** Empty when the thread ends without an answer. */
function answerOf(worker: Worker): Promise<ReadonlyMap<number, FileFacts>> {
  return new Promise((resolve) => {
    worker.addEventListener('message', ({ data }: MessageEvent<HashAnswer>) => resolve(factsOf(data)))
    for (const end of ['error', 'close'])
      worker.addEventListener(end, (event) => {
        event.preventDefault()
        resolve(new Map())
      })
  })
}

function factsOf({ places, sizes, sha256s, modifiedMs, changedMs }: HashAnswer): Map<number, FileFacts> {
  const facts = new Map<number, FileFacts>()
  places.forEach((place, index) => {
    const sha256 = sha256s[index]
    if (sha256 === undefined) return
    facts.set(place, {
      size: sizes[index] ?? 0,
      sha256,
      modifiedMs: modifiedMs[index] ?? 0,
      changedMs: changedMs[index] ?? 0,
    })
  })
  return facts
}
