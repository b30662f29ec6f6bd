import { dlopen } from 'bun:ffi'
import { closeSync, openSync } from 'node:fs'

const LOCK_EX = 2
const LOCK_NB = 4

/**
 * Keeps other processes that do the same out of a folder, in which nothing is made for it; ends with this process in any case.
 * Undefined if somebody else holds it. Needs Linux and glibc.
 */
export function lockFolder(path: string): { release(): void } | undefined {
  const { symbols, close } = dlopen('libc.so.6', { flock: { args: ['i32', 'i32'], returns: 'i32' } })
  const folder = openSync(path, 'r')
  const isHeld = symbols.flock(folder, LOCK_EX | LOCK_NB) === 0
  close()
  if (!isHeld) closeSync(folder)
  return isHeld ? { release: () => closeSync(folder) } : undefined
}
