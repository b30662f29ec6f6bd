import type { BackupFile } from './names.ts'

/** Where scheduled backups are. Other files there are never listed, and never touched. */
export type BackupPlace = {
  /** Whether a list costs nothing worth remembering. */
  isLocal: boolean
  list(): Promise<BackupFile[]>
  remove(name: string): Promise<void>
  /** The bytes of one, to be read to their end or returned. */
  read(name: string): Promise<AsyncGenerator<Uint8Array, void, undefined>>
  /** Removes what killed backups left more than a day ago. */
  removeLeftovers(now: number): Promise<void>
  /** Before a backup. Throws where there can be none. */
  prepare(): void
  /** What `svc backup` is told, and the variables that it needs beside. */
  target(name: string): string
}
