import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ActionFailure } from './failure.mjs'

const READ_BYTES = 1024 * 1024

/** @typedef {{ path: string, absolutePath: string, size: number, sha256: string, modifiedMs: number }} HashedFile */

/**
 * Adds size, SHA-256 and time of change to each file, with one buffer for all.
 *
 * @param {{ path: string, absolutePath: string }[]} files
 */
export function hashFiles(files) {
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  return files.map((file) => hashFile(file, buffer))
}

/**
 * @param {{ path: string, absolutePath: string }} file
 * @param {Buffer} buffer
 * @returns {HashedFile}
 */
function hashFile(file, buffer) {
  const fd = openSync(file.absolutePath, 'r')
  try {
    const { size, mtimeMs } = fstatSync(fd)
    const hash = createHash('sha256')
    for (let rest = size; rest > 0; ) {
      const count = readSync(fd, buffer, 0, Math.min(rest, buffer.length), null)
      if (count === 0) throw changedWhileRead(file)
      hash.update(buffer.subarray(0, count))
      rest -= count
    }
    return { ...file, size, sha256: hash.digest('hex'), modifiedMs: mtimeMs }
  } finally {
    closeSync(fd)
  }
}

/** @param {{ path: string }} file */
export function changedWhileRead({ path }) {
  return new ActionFailure(`${path} changed while it was being published; nothing was published`)
}
