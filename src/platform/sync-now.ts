import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Syncs the bytes of a file or the names of a folder to the disk before it returns. */
export function syncNow(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
