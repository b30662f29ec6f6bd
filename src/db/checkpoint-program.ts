import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'

declare const self: Worker

export type CheckpointJob = { file: string; inode: number; maxRounds: number }

/** In pages: the size of the log, and how much of it is in the file. */
export type CheckpointState = { busy: number; log: number; checkpointed: number }

self.onmessage = ({ data }: MessageEvent<CheckpointJob>) => {
  if (statSync(data.file, { throwIfNoEntry: false })?.ino === data.inode) checkpoint(data)
  postMessage('done')
}

function checkpoint({ file, maxRounds }: CheckpointJob): void {
  const sqlite = new Database(file, { readwrite: true })
  sqlite.run('PRAGMA synchronous = NORMAL')
  for (let round = 0; round < maxRounds && isBehind(sqlite); round++)
    sqlite.run('PRAGMA wal_checkpoint(PASSIVE)')
  sqlite.close()
}

function isBehind(sqlite: Database): boolean {
  const state = sqlite.query<CheckpointState, []>('PRAGMA wal_checkpoint(NOOP)').get()
  return state !== null && state.log > state.checkpointed
}
