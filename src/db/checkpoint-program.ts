import { constants, Database } from 'bun:sqlite'
import { statSync } from 'node:fs'

declare const self: Worker

/** The file is known by its inode, since its name may lead elsewhere by now. */
export type CheckpointJob = { path: string; inode: bigint; maxRounds: number }

/** In pages: the size of the log, and how much of it is in the file. */
export type CheckpointState = { busy: number; log: number; checkpointed: number }

self.onmessage = ({ data }: MessageEvent<CheckpointJob>) => {
  checkpoint(data)
  postMessage('done')
}

function checkpoint({ path, inode, maxRounds }: CheckpointJob): void {
  // Opening alone touches no log.
  const sqlite = new Database(path, { readwrite: true })
  if (isOf(sqlite, inode)) {
    sqlite.run('PRAGMA synchronous = NORMAL')
    for (let round = 0; round < maxRounds && isBehind(sqlite); round++)
      sqlite.run('PRAGMA wal_checkpoint(PASSIVE)')
  }
  sqlite.close()
}

/** As `connectAgain` asks. */
function isOf(sqlite: Database, inode: bigint): boolean {
  const hasMoved = new BigInt64Array(1)
  sqlite.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, hasMoved)
  return (
    hasMoved[0] === 0n && statSync(sqlite.filename, { bigint: true, throwIfNoEntry: false })?.ino === inode
  )
}

function isBehind(sqlite: Database): boolean {
  const state = sqlite.query<CheckpointState, []>('PRAGMA wal_checkpoint(NOOP)').get()
  return state !== null && state.log > state.checkpointed
}
