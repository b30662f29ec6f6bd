import { closeSync, fsyncSync, openSync } from 'node:fs'

/** A file's bytes, or a folder's names: on the disk when it returns. */
export function syncNow(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
