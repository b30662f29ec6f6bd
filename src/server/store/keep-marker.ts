import { writeMarker } from '../../db/replication/marker.ts'

const EVERY_MS = 1000

/**
 * Keeps `replica.json` as a server goes on: what the file of the database has at least, and which number of the log it has seen.
 */
export function keepMarker(
  dataDir: string,
  { store, from, seen }: { store: string; from: number; seen: () => number },
) {
  let number = from
  let written = from
  let writing: Promise<void> = Promise.resolve()
  const write = (): Promise<void> => {
    written = seen()
    const marker = { store, number, seen: written }
    writing = writing.catch(() => {}).then(() => writeMarker(dataDir, marker))
    return writing
  }
  const timer = setInterval(() => {
    // Another try follows; without it a start only knows of an older number.
    if (seen() > written) write().catch(() => {})
  }, EVERY_MS)
  timer.unref()
  return {
    /** The file has everything up to it, on the disk. */
    shipped(shipped: number): Promise<void> {
      number = shipped
      return write()
    },
    stop(): Promise<void> {
      clearInterval(timer)
      return writing.catch(() => {})
    },
  }
}
