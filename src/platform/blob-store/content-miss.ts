/**
 * The bytes of a content are not on this machine. Thrown where they are read, so that reading stays synchronous; whoever asked
 * fetches the blocks and asks again (`withContents`).
 */
export class ContentMiss extends Error {
  readonly sha256: string
  /** The object of the store, and which of its blocks are missing. */
  readonly key: string
  readonly blocks: readonly number[]
  /** The copy here was not what had been stored. */
  readonly isDamage: boolean

  constructor(
    sha256: string,
    { key, blocks, isDamage = false }: { key: string; blocks: readonly number[]; isDamage?: boolean },
  ) {
    super(`The content ${sha256} has to be fetched`)
    this.sha256 = sha256
    this.key = key
    this.blocks = blocks
    this.isDamage = isDamage
  }
}

/** Where missing contents come from. */
type Source = {
  blobs: {
    fetch(miss: ContentMiss): Promise<void>
    /** Runs the work, in which each content is read once and then stays in memory. */
    keeping<T>(kept: Map<string, Uint8Array>, work: () => T): T
  }
}

/** Fetched anew, a content that is damaged is damaged in the store. */
const MOST_DAMAGES = 2
/** Others that fetch may push a block out before it was read. */
const MOST_MISSES = 20

/**
 * Runs work that reads contents: where one is missing it is fetched, and the work is done again from its start. So until
 * it has all contents the work must change nothing, or only what is rolled back.
 */
export function withContents<T>(source: Source, work: () => T): T | Promise<Awaited<T>> {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ContentMiss)) throw error
    return fetched(source, work, error)
  }
}

async function fetched<T>({ blobs }: Source, work: () => T, first: ContentMiss): Promise<Awaited<T>> {
  const kept = new Map<string, Uint8Array>()
  const misses = new Map<string, number>()
  for (let miss = first; ; ) {
    const times = (misses.get(miss.sha256) ?? 0) + 1
    misses.set(miss.sha256, times)
    if (times > (miss.isDamage ? MOST_DAMAGES : MOST_MISSES))
      throw new Error(`Stored content ${miss.sha256} ${miss.isDamage ? 'is damaged' : 'could not be kept'}`)
    await blobs.fetch(miss)
    try {
      return await blobs.keeping(kept, work)
    } catch (error) {
      if (!(error instanceof ContentMiss)) throw error
      miss = error
    }
  }
}
