import { existsSync } from 'node:fs'
import { lockFolder } from '../../platform/folder-lock.ts'
import { CommandFailure, type Io } from '../command.ts'

const WAIT_MS = 60_000
const LOOK_EVERY_MS = 100

/** Waits for another `svc install` or `svc uninstall` on this root to end. */
export async function oneAtATime(root: string, io: Io, work: () => Promise<void>): Promise<void> {
  if (!existsSync(root)) return work()
  const giveUpAt = io.nowMs() + WAIT_MS
  let lock = lockFolder(root)
  while (lock === undefined && io.nowMs() < giveUpAt) {
    await io.sleep(LOOK_EVERY_MS)
    lock = lockFolder(root)
  }
  if (lock === undefined)
    throw new CommandFailure('another svc install or svc uninstall runs here; nothing was changed')
  try {
    await work()
  } finally {
    lock.release()
  }
}
