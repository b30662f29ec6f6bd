import { writeMarker } from '../../db/replication/marker.ts'

const EVERY_MS = 1000

/**
 * Keeps `replica.json` as a server goes on: which number of the log it has seen, and what the file of the database has. That is
 * nothing to build on (0) while a process that ends would copy what is not in the store into the file, as SQLite does with the
 * last connection that closes, also at the exit.
 */
export function keepMarker(dataDir: string, store: string, seen: () => number) {
  let number = 0
  let written = 0
  let writing: Promise<void> = Promise.resolve()
  const write = (): Promise<void> => {
    written = seen()
    // With its log the file is what SQLite opens after a crash.
    const marker = { store, number, seen: written, isWhole: true }
    writing = writing.catch(() => {}).then(() => writeMarker(dataDir, marker))
    return writing
  }
  const timer = setInterval(() => {
    // Another try follows; without it a start only knows of an older number.
    if (seen() > written) write().catch(() => {})
  }, EVERY_MS)
  timer.unref()
  return {
    /** The file has everything up to this number, on the disk, and nothing that is not in the store. */
    has(shipped: number): Promise<void> {
      number = shipped
      return write()
    },
    fileHas: () => number,
    /** Not written again afterwards. */
    async stop({ isWhole }: { isWhole: boolean }): Promise<void> {
      clearInterval(timer)
      if (!isWhole) number = 0
      await write().catch(() => {})
    },
  }
}
