import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

declare const self: Worker

/**
 * The files to hash. `shared` holds the place of the next block that nobody took (at 0, 32 bits), and the bytes and
 * files that this program hashed (at 8 and 16, 64 bits each).
 */
export type HashJob = { paths: string[]; shared: SharedArrayBuffer; blockFiles: number; wholeBytes: number }

/** By file, without those that are larger than `wholeBytes` or could not be read. */
export type HashAnswer = {
  places: number[]
  sizes: number[]
  sha256s: string[]
  modifiedMs: number[]
  changedMs: number[]
}

self.onmessage = ({ data: { paths, shared, blockFiles, wholeBytes } }: MessageEvent<HashJob>) => {
  const buffer = new Uint8Array(wholeBytes)
  const next = new Int32Array(shared, 0, 1)
  const done = new Float64Array(shared, 8, 2)
  const answer: HashAnswer = { places: [], sizes: [], sha256s: [], modifiedMs: [], changedMs: [] }
  let bytes = 0
  for (;;) {
    const from = Atomics.add(next, 0, blockFiles)
    if (from >= paths.length) break
    for (const [index, path] of paths.slice(from, from + blockFiles).entries()) {
      bytes += hashUnlessGone(path, from + index, buffer, answer)
      done.set([bytes, answer.places.length])
    }
  }
  postMessage(answer)
}

/** Adds the file to the answer and returns its size; 0 if it is left out. */
function hashUnlessGone(path: string, place: number, buffer: Uint8Array, answer: HashAnswer): number {
  try {
    return hash(path, place, buffer, answer)
  } catch {
    return 0
  }
}

function hash(path: string, place: number, buffer: Uint8Array, answer: HashAnswer): number {
  const fd = openSync(path, 'r')
  try {
    const { size, mtimeMs, ctimeMs } = fstatSync(fd)
    if (size > buffer.length || readSync(fd, buffer, 0, size, null) !== size) return 0
    answer.sha256s.push(Bun.SHA256.hash(buffer.subarray(0, size), 'hex'))
    answer.places.push(place)
    answer.sizes.push(size)
    answer.modifiedMs.push(mtimeMs)
    answer.changedMs.push(ctimeMs)
    return size
  } finally {
    closeSync(fd)
  }
}
