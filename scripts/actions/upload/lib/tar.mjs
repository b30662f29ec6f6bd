import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ActionFailure, messageOf } from './failure.mjs'
import { changedWhileRead } from './manifest.mjs'

/** @typedef {import('./manifest.mjs').HashedFile} HashedFile */

const BLOCK = 512
const CHUNK_BYTES = 512 * BLOCK
const LARGEST_OCTAL_SIZE = 0o77777777777

/**
 * A tar of the files' contents, each named by its SHA-256, read as it is taken. A file that changed since it was
 * hashed throws, and the tar stays without its end. `onRead` is called for each piece read.
 *
 * @param {HashedFile[]} files
 * @param {() => void} onRead
 */
export function* tarChunks(files, onRead) {
  let chunk = Buffer.alloc(CHUNK_BYTES)
  let used = 0
  const take = () => {
    const taken = chunk.subarray(0, used)
    chunk = Buffer.alloc(CHUNK_BYTES)
    used = 0
    return taken
  }
  for (const file of files) {
    writeHeader(chunk.subarray(used, used + BLOCK), file)
    used += BLOCK
    let reader
    try {
      reader = openChecked(file)
      while (reader.rest() > 0) {
        if (used === CHUNK_BYTES) yield take()
        used += reader.read(chunk.subarray(used))
        onRead()
      }
      reader.verify()
    } catch (error) {
      throw error instanceof ActionFailure ? error : unreadable(file, error)
    } finally {
      reader?.close()
    }
    // A chunk holds whole blocks when it is full, so this never runs over its end.
    used = Math.ceil(used / BLOCK) * BLOCK
    if (used === CHUNK_BYTES) yield take()
  }
  yield take()
  yield Buffer.alloc(2 * BLOCK)
}

/** @param {HashedFile} file */
function openChecked(file) {
  const fd = openSync(file.absolutePath, 'r')
  const hash = createHash('sha256')
  let rest = file.size
  const { size, mtimeMs } = fstatSync(fd)
  if (size !== file.size || mtimeMs !== file.modifiedMs) {
    closeSync(fd)
    throw changedWhileRead(file)
  }
  return {
    rest: () => rest,
    /** @param {Buffer} into */
    read(into) {
      const count = readSync(fd, into, 0, Math.min(rest, into.length), null)
      if (count === 0) throw changedWhileRead(file)
      hash.update(into.subarray(0, count))
      rest -= count
      return count
    },
    verify() {
      if (hash.digest('hex') !== file.sha256) throw changedWhileRead(file)
    },
    close: () => closeSync(fd),
  }
}

/**
 * @param {HashedFile} file
 * @param {unknown} error
 */
function unreadable({ path }, error) {
  return new ActionFailure(`${path} cannot be read: ${messageOf(error)}`)
}

/**
 * A ustar header (POSIX.1-1988): a regular file of mode 0644, owner and time zero. `header` is all zeros.
 *
 * @param {Buffer} header
 * @param {HashedFile} file
 */
function writeHeader(header, { sha256, size }) {
  header.write(sha256, 0)
  header.write('0000644\0'.concat('0000000\0', '0000000\0'), 100)
  if (size <= LARGEST_OCTAL_SIZE) header.write(`${octal(size, 11)}\0`, 124)
  else writeBinarySize(header.subarray(124, 136), size)
  // The checksum, last but one here, counts itself as spaces.
  header.write(`${octal(0, 11)}\0        0`, 136)
  header.write('ustar\x0000', 257)
  let sum = 0
  for (const byte of header) sum += byte
  header.write(`${octal(sum, 6)}\0 `, 148)
}

/**
 * Sizes of 8 GiB and more, as GNU tar writes them: big-endian, top bit set.
 *
 * @param {Buffer} field
 * @param {number} size
 */
function writeBinarySize(field, size) {
  field.writeUIntBE(size, field.length - 6, 6)
  field[0] = 0x80
}

/**
 * @param {number} value
 * @param {number} digits
 */
function octal(value, digits) {
  return value.toString(8).padStart(digits, '0')
}
