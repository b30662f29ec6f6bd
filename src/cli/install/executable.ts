import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine } from './machine.ts'
import { EXECUTABLE } from './paths.ts'
import { replaceFile, withPlainFile, writeWhole } from './plain-file.ts'
import type { Step } from './step.ts'

const MODE = 0o755
const PIECE_BYTES = 1024 * 1024

/** This executable, where the unit expects it. */
export function executableStep({ root, executable }: Machine): Step {
  return withOwn(executable.bytes, (own) => ({
    what: 'executable',
    path: join(root, EXECUTABLE),
    isDone: isThere(root, own),
    act: () => copy(executable.bytes, root),
  }))
}

const isThere = (root: string, own: number): boolean =>
  withPlainFile(root, EXECUTABLE, (file, { mode, size, dev, ino }) => {
    const mine = fstatSync(own)
    if (mode !== MODE || size !== mine.size) return false
    return (dev === mine.dev && ino === mine.ino) || hasSameBytes(file, own)
  }) ?? false

function hasSameBytes(one: number, other: number): boolean {
  for (let at = 0; ; ) {
    const [here, there] = [pieceAt(one, at), pieceAt(other, at)]
    if (!here.equals(there)) return false
    if (here.length === 0) return true
    at += here.length
  }
}

const copy = (bytes: string, root: string): void =>
  withOwn(bytes, (own) =>
    replaceFile(root, EXECUTABLE, MODE, (file) => {
      for (let at = 0, piece = pieceAt(own, at); piece.length > 0; piece = pieceAt(own, at)) {
        writeWhole(file, piece)
        at += piece.length
      }
    }),
  )

/** Filled but at the end of the file. */
function pieceAt(file: number, position: number): Buffer {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  let filled = 0
  while (filled < PIECE_BYTES) {
    const read = readSync(file, piece, filled, PIECE_BYTES - filled, position + filled)
    if (read === 0) break
    filled += read
  }
  return piece.subarray(0, filled)
}

function withOwn<T>(path: string, work: (own: number) => T): T {
  const own = openSync(path, 'r')
  try {
    return work(own)
  } finally {
    closeSync(own)
  }
}
