import { rmSync, statfsSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from './durable-file.ts'
import { handOver } from './owner.ts'
import { randomBytes } from './random.ts'
import { syncNow } from './sync-now.ts'

/** The file of the data directory that keeps room for tidying up on a full disk. contract 12.11. */
const NAME = 'reserve'
/** What a killed server left half made. */
const DRAFT = `${NAME}.new`
const MAX_BYTES = 32 * 1024 * 1024
const DISK_SHARE = 64
/** It is made only where this many times as much is free. */
const FREE_TIMES = 4
const BLOCK_BYTES = 4096
const PIECE_BYTES = 1024 * 1024
const LOOK_EVERY_MS = 5_000

/** Space on the disk of the data directory that is given up when a write that frees space finds no room. */
export type Reserve = {
  /** Gives it up; false if there is none. */
  release(): boolean
  /** Whether it was given up and there is no room for it yet, so that only tidying up may write. Looks at the disk. */
  isSpent(): boolean
  stop(): Promise<void>
}

/** For a database in memory, and for commands, which leave it to the server. */
export const noReserve: Reserve = { release: () => false, isSpent: () => false, stop: async () => {} }

type Told = {
  /** The reserve was made. */
  made(): void
  failed(error: unknown): void
}

/** Makes the reserve if it is missing and there is room, now and every few seconds. */
export function keepReserve(dataDir: string, { made, failed }: Told): Reserve {
  let isSpent = false
  let making: Promise<void> | undefined
  const makeWhenDue = (): void => {
    making ??= makeReserve(dataDir)
      .then(made, failed)
      .finally(() => {
        making = undefined
      })
  }
  const lookAgain = (): void => {
    if (hasReserve(dataDir)) isSpent = false
    else if (isRoomFor(dataDir)) {
      isSpent = false
      makeWhenDue()
    }
  }
  rmSync(join(dataDir, DRAFT), { force: true })
  const timer = setInterval(lookAgain, LOOK_EVERY_MS)
  timer.unref()
  lookAgain()
  return {
    release() {
      if (reserveBytes(dataDir) === 0) return false
      isSpent = true
      rmSync(join(dataDir, NAME), { force: true })
      // Some file systems give freed blocks to others only after this.
      syncNow(dataDir)
      return true
    },
    isSpent() {
      if (isSpent) lookAgain()
      return isSpent
    },
    async stop() {
      clearInterval(timer)
      await making
    },
  }
}

/** The bytes on the disk that it really holds: 0 if it is missing or sparse. */
export function reserveBytes(dataDir: string): number {
  const found = statSync(join(dataDir, NAME), { throwIfNoEntry: false })
  return found === undefined ? 0 : Math.min(found.size, found.blocks * 512)
}

const hasReserve = (dataDir: string): boolean => reserveBytes(dataDir) >= wantedBytes(dataDir)

/** In whole blocks. */
function wantedBytes(dataDir: string): number {
  const { blocks, bsize } = statfsSync(dataDir)
  const share = Math.min(MAX_BYTES, (blocks * bsize) / DISK_SHARE)
  return Math.floor(share / BLOCK_BYTES) * BLOCK_BYTES
}

function isRoomFor(dataDir: string): boolean {
  const { bavail, bsize } = statfsSync(dataDir)
  return bavail * bsize >= FREE_TIMES * wantedBytes(dataDir)
}

/** Random bytes, because some file systems would shrink others to nothing. */
async function makeReserve(dataDir: string): Promise<void> {
  const draft = join(dataDir, DRAFT)
  await rm(draft, { force: true })
  const file = await open(draft, 'wx', 0o600)
  try {
    handOver(draft)
    await fill(file, wantedBytes(dataDir))
    await file.sync()
    await file.close()
    await rename(draft, join(dataDir, NAME))
    await syncFolder(dirname(draft))
  } catch (error) {
    await file.close().catch(() => undefined)
    await rm(draft, { force: true })
    throw error
  }
}

async function fill(file: FileHandle, sizeBytes: number): Promise<void> {
  for (let left = sizeBytes; left > 0; left -= PIECE_BYTES)
    await file.writeFile(randomBytes(Math.min(left, PIECE_BYTES)))
}
